"""Traffic under headings, in groups, without what clients ask by themselves; and exported."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.async_api import Browser, expect

from tests.peers.raw_http import over_http
from tests.web.browser import keep_picture, show, window
from tests.web.gateway import opened

pytestmark = [pytest.mark.long, pytest.mark.asyncio(loop_scope="module")]


async def test_calls_are_grouped_filtered_and_exported_as_shown(
    browser: Browser, tmp_path: Path
) -> None:
    async with opened() as yard, window(browser, yard.link) as page:
        async with over_http(yard.server.url, "2025-06-18") as client:
            await client.call("rows", {})
            await client.call("text_stats", {"text": "a b"})
            await client.call("rows", {})
            await client.call("test_simple_text", {})
        await show(page, "#/traffic")
        grid = page.locator(".traffic-grid")
        await expect(grid.locator(".traffic-head")).to_contain_text("Method and client")
        await expect(grid.get_by_role("link").filter(has_text="tools/list").first).to_be_visible()
        await page.get_by_label("Hide lists and pings").check()
        await expect(grid.get_by_role("link").filter(has_text="tools/list")).to_have_count(0)
        await page.get_by_role("searchbox").fill("tools/call")
        await page.get_by_label("Group by").select_option("call")
        await expect(grid.get_by_role("heading")).to_have_text(
            ["test_simple_text1", "rows2", "text_stats1"]
        )
        await page.get_by_label("Group by").select_option("client")
        await expect(grid.get_by_role("heading")).to_have_text(["raw-test-client 1.04"])
        await page.get_by_label("Group by").select_option("server")
        await expect(grid.get_by_role("heading")).to_have_text(["peer1", "project3"])
        await keep_picture(page, "traffic-groups")
        async with page.expect_download() as coming:
            await page.get_by_role("button", name="Export what is shown as JSON").click()
        download = await coming.value
        assert download.suggested_filename == "traffic.json"
        file = tmp_path / "traffic.json"
        await download.save_as(file)
        assert [line["name"] for line in json.loads(file.read_text())] == [
            "test_simple_text",
            "rows",
            "text_stats",
            "rows",
        ]
