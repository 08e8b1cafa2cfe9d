"""The first screen comes with the page; the others when they are opened."""

from __future__ import annotations

import pytest
from playwright.async_api import Browser, Page, expect

from tests.web.browser import show, window
from tests.web.gateway import Opened

pytestmark = [pytest.mark.long, pytest.mark.asyncio(loop_scope="module")]

SCRIPTS = """() => performance.getEntriesByType('resource')
  .filter((e) => e.name.endsWith('.js')).map((e) => [e.name, e.decodedBodySize])"""
FETCHED = """part => performance.getEntriesByType('resource')
  .some((e) => e.name.endsWith('.js') && e.name.includes(part))"""
MOST_AT_FIRST = 60_000
LATER = ("explore", "traffic", "tasks", "health", "context", "registry", "connect", "settings")


async def scripts(page: Page) -> dict[str, int]:
    """What was fetched so far, by address, in bytes."""
    return dict(await page.evaluate(SCRIPTS))


async def test_a_screen_is_loaded_when_it_is_opened(browser: Browser, yard: Opened) -> None:
    async with window(browser, yard.link) as page:
        await expect(page.get_by_role("article", name="yard")).to_be_visible()
        first = await scripts(page)
        assert 0 < sum(first.values()) < MOST_AT_FIRST
        for name in LATER:
            assert not any(f"/{name}-" in address for address in await scripts(page)), name
            await show(page, f"#/{name}")
            await page.wait_for_function(FETCHED, arg=f"/{name}-")
            await expect(page.locator("main .skeleton, main .failure")).to_have_count(0)


async def test_what_several_screens_need_comes_in_one_file(browser: Browser, yard: Opened) -> None:
    async with window(browser, yard.link) as page:
        await show(page, "#/explore")
        await expect(page.locator(".outline-row").first).to_be_visible()
        names = sorted(address.rpartition("/")[2].split("-")[0] for address in await scripts(page))
        assert [name for name in names if name != "markdown"] == [
            "early",
            "explore",
            "index",
            "parts",
            "shared",
        ]


async def test_a_screen_looks_the_same_whichever_was_opened_before(
    browser: Browser, yard: Opened
) -> None:
    await yard.api.events_of("countdown", {"seconds": 1})
    number = (await yard.api.get("traffic"))["lines"][0]["number"]
    async with window(browser, yard.link) as page:
        await show(page, f"#/traffic/{number}")
        await expect(page.locator(".call .facts")).to_have_css("display", "grid")
        await expect(page.locator(".call .log").first).to_have_css("display", "flex")
