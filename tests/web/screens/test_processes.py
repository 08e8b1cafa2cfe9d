"""Health names the other processes that serve the same, and how the servers of each are."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from playwright.async_api import Browser, expect

from tests.web.browser import keep_picture, show, window
from tests.web.gateway import Opened, found
from tests.workers.yard import crewed, project

pytestmark = [pytest.mark.long, pytest.mark.asyncio(loop_scope="module")]

GONE = {"name": "gone", "stdio": {"command": "/nonexistent/program"}, "expose": "all"}


async def test_each_of_two_workers_shows_the_other(browser: Browser, tmp_path: Path) -> None:
    folder = project(tmp_path / "yard")
    (folder / "registry.json").write_text(json.dumps({"servers": [GONE]}))
    async with crewed(folder) as server:
        link, _ = await found(server)
        async with window(browser, link) as page:
            await show(page, "#/health")
            others = page.get_by_role("region", name="Other processes")
            row = others.locator("tbody tr")
            await expect(row).to_have_count(1)
            # Which of the two answers for the page is chance: the other one is shown.
            await expect(row.locator("code")).to_have_text(re.compile(r"\w"))
            await expect(row).to_contain_text("gone")
            await keep_picture(page, "processes")


async def test_one_process_has_no_others(browser: Browser, yard: Opened) -> None:
    async with window(browser, yard.link) as page:
        await show(page, "#/health")
        await expect(page.get_by_role("article", name="gone")).to_be_visible()
        await expect(page.get_by_role("region", name="Other processes")).to_have_count(0)
