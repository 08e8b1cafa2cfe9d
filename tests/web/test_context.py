"""The screen about what a model reads: views, what they cost, and a search as it would go."""

from __future__ import annotations

import pytest
from playwright.async_api import Browser, expect

from tests.web.browser import show, window
from tests.web.gateway import Opened

pytestmark = [pytest.mark.long, pytest.mark.asyncio(loop_scope="module")]


async def test_a_view_can_be_chosen_and_shows_what_it_costs(browser: Browser, yard: Opened) -> None:
    async with window(browser, yard.link) as page:
        await show(page, "#/context")
        for view in ("full", "index", "search"):
            await expect(page.get_by_role("radio", name=view)).to_be_visible()
        await expect(page.get_by_text("tools/list in view search")).to_be_visible()
        await page.get_by_role("radio", name="index").check()
        listed = page.get_by_role("region", name="What is listed")
        await expect(listed).to_contain_text("All tools, by server")
        await expect(listed).to_contain_text("greet")
        await page.get_by_role("radio", name="full").check()
        await expect(listed.get_by_role("link", name="Explore")).to_be_visible()


async def test_a_search_shows_scores_and_the_words_that_matched_nothing(
    browser: Browser, yard: Opened
) -> None:
    async with window(browser, yard.link) as page:
        await show(page, "#/context")
        search = page.get_by_role("region", name="Search")
        await search.get_by_label("As a model would ask").fill("greet somebody xylophone")
        row = search.get_by_role("row").nth(1)
        await expect(row).to_contain_text("greet")
        await expect(row).to_contain_text("call_")
        await expect(search.locator(".unmatched")).to_contain_text("xylophone")
        await row.get_by_role("link").first.click()
        await expect(page.get_by_role("heading", name="greet").first).to_be_visible()


async def test_the_api_refuses_what_cannot_be_meant(yard: Opened) -> None:
    for query, complaint in (
        ("view=serach", "did you mean"),
        ("budget=3", "too small"),
        ("query=" + "x" * 2_000, "1,000 characters"),
    ):
        status, body = await yard.api.send("GET", f"context?{query}")
        assert status == 400 and complaint in body["error"]
