"""The graph shows what compositions are made of, what clients do not see, and what failed."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from playwright.async_api import Browser, expect

from tests.web.browser import keep_picture, show, window
from tests.web.gateway import make_project, opened

pytestmark = [pytest.mark.long, pytest.mark.asyncio(loop_scope="module")]

STEPS = [
    {"id": "words", "operation": {"tool": {"name": "text_stats"}}},
    {"id": "table", "operation": {"tool": {"name": "rows"}}},
]
TOOLS = [
    {"name": "both", "description": "Two in a row", "spec": {"pipeline": {"steps": STEPS}}},
    {"name": "renamed", "server": "peer", "originalName": "test_error_handling"},
]


async def test_compositions_hidden_sources_and_failed_servers_are_drawn(
    browser: Browser, tmp_path: Path
) -> None:
    project = make_project(tmp_path)
    file = project / "registry.json"
    registry = json.loads(file.read_text().split("\n", 1)[1])
    registry["servers"][1]["expose"] = "listed"
    registry["tools"] += TOOLS
    file.write_text(json.dumps(registry))
    async with opened(project=project) as yard, window(browser, yard.link) as page:
        (both,) = [t for t in (await yard.api.get("catalog"))["tools"] if t["name"] == "both"]
        assert both["uses"] == ["text_stats", "rows"]
        await show(page, "#/explore?view=graph")
        await expect(page.locator(".spot.composed")).to_have_text(re.compile("both"))
        await expect(page.locator(".edge.uses")).to_have_count(2)
        hidden = page.get_by_role("link", name="test_error_handling, hidden from clients")
        await expect(hidden).to_be_visible()
        gone = page.get_by_role("link", name=re.compile("^gone, failed, .*nonexistent.program"))
        await expect(gone).to_have_class(re.compile("off"))
        await keep_picture(page, "graph")
        await gone.press("Enter")
        await expect(page.get_by_role("region", name="Server")).to_contain_text("failed")
