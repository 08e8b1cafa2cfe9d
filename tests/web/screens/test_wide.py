"""Large screens are used; on a small one what was chosen stands alone."""

from __future__ import annotations

import pytest
from playwright.async_api import Browser, expect

from tests.web.browser import NARROW, keep_picture, show, window
from tests.web.gateway import Opened

pytestmark = [pytest.mark.long, pytest.mark.asyncio(loop_scope="module")]

WIDTH = "e => Math.round(e.getBoundingClientRect().width)"


@pytest.mark.parametrize(
    ("size", "content", "entries"),
    [((1920, 1080), 1600, 440), ((1440, 900), 1120, 330)],
)
async def test_content_grows_with_a_large_screen(
    browser: Browser, yard: Opened, size: tuple[int, int], content: int, entries: int
) -> None:
    async with window(browser, yard.link, size=size) as page:
        await expect(page.get_by_role("article", name="yard")).to_be_visible()
        assert await page.locator(".screen").evaluate(WIDTH) == content
        await keep_picture(page, f"overview-{size[0]}")
        await show(page, "#/explore/tools/greet")
        await expect(page.locator(".entry")).to_be_visible()
        assert await page.locator(".explore-list").evaluate(WIDTH) == entries
        await keep_picture(page, f"explore-{size[0]}")


async def test_a_difference_stands_below_the_other_where_two_have_no_room(
    browser: Browser, yard: Opened
) -> None:
    across = "e => getComputedStyle(e).gridTemplateColumns.split(' ').length"
    async with window(browser, yard.link, size=(1440, 900)) as page:
        for part, columns in (("definition", 2), ("shape", 1)):
            await show(page, f"#/explore/tools/ahoy?part={part}")
            row = page.locator(".diff-row").first
            await expect(row).to_be_visible()
            assert await row.evaluate(across) == columns


async def test_what_was_chosen_is_in_sight_on_a_small_screen(
    browser: Browser, yard: Opened
) -> None:
    async with window(browser, yard.link, size=NARROW) as page:
        await show(page, "#/explore/tools/greet?part=origin")
        tab = page.get_by_role("tab", name="Where it comes from")
        await expect(tab).to_be_in_viewport(ratio=1)
        await show(page, "#/settings")
        await expect(page.get_by_role("link", name="Settings")).to_be_in_viewport(ratio=1)


async def test_a_table_moves_sideways_before_a_word_is_cut(browser: Browser, yard: Opened) -> None:
    async with window(browser, yard.link, size=NARROW) as page:
        await show(page, "#/explore/tools/rows")
        await page.get_by_role("button", name="Run").click()
        cells = page.locator(".data tr:nth-child(1) td")
        await expect(cells.first).to_have_text("Oslo")
        low = await cells.first.evaluate("e => e.clientHeight")
        for cell in await cells.all():
            await cell.evaluate("e => { e.textContent = 'Taumatawhakatangihangakoauauo' }")
        assert await cells.first.evaluate("e => e.clientHeight") == low


async def test_what_was_chosen_has_a_small_screen_to_itself(browser: Browser, yard: Opened) -> None:
    async with window(browser, yard.link, size=(820, 1100)) as page:
        await show(page, "#/explore")
        await page.get_by_role("treeitem").filter(has_text="greet").first.click()
        await expect(page.get_by_role("heading", name="greet")).to_be_visible()
        await expect(page.locator(".explore-list")).to_be_hidden()
        await page.get_by_role("link", name="All entries").click()
        await expect(page.locator(".explore-list")).to_be_visible()
