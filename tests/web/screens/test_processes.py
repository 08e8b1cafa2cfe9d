"""Health names the processes that serve the same, and how the servers of each are."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.async_api import Browser, Page, expect

from tests.until import until
from tests.web.browser import keep_picture, show, window
from tests.web.gateway import Opened, found
from tests.workers.yard import crewed, project

pytestmark = [pytest.mark.long, pytest.mark.asyncio(loop_scope="module")]

GONE = {"name": "gone", "stdio": {"command": "/nonexistent/program"}, "expose": "all"}


async def test_both_of_two_workers_are_shown(browser: Browser, tmp_path: Path) -> None:
    folder = project(tmp_path / "yard")
    (folder / "registry.json").write_text(json.dumps({"servers": [GONE]}))
    async with crewed(folder) as server:
        link, _ = await found(server)
        async with window(browser, link) as page:
            await show(page, "#/health")
            # A busy process may be late to answer for itself: it is asked again.
            rows = await until(lambda: shown_of(page))
            assert all("gone" in row for row in rows), rows
            assert sum("answers this page" in row for row in rows) == 1
            await keep_picture(page, "processes")


async def shown_of(page: Page) -> list[str] | None:
    await page.reload()
    await expect(page.get_by_role("article", name="gone")).to_be_visible(timeout=30_000)
    region = page.get_by_role("region", name="Processes")
    rows = await region.locator("tbody tr").all_inner_texts()
    return rows if len(rows) == 2 else None


async def test_one_process_has_no_others(browser: Browser, yard: Opened) -> None:
    async with window(browser, yard.link) as page:
        await show(page, "#/health")
        await expect(page.get_by_role("article", name="gone")).to_be_visible()
        await expect(page.get_by_role("region", name="Processes")).to_have_count(0)
