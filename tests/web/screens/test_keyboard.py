"""The keyboard does what the page says: find, move, open, go anywhere, answer."""

from __future__ import annotations

import re

import pytest
from playwright.async_api import Browser, expect

from tests.web.browser import show, window
from tests.web.gateway import Opened
from tests.web.trying import result

pytestmark = [pytest.mark.long, pytest.mark.asyncio(loop_scope="module")]


async def test_slash_typing_arrows_and_enter_open_what_was_found(
    browser: Browser, yard: Opened
) -> None:
    async with window(browser, yard.link) as page:
        await show(page, "#/explore")
        await expect(page.get_by_role("treeitem").first).to_be_visible()
        await page.keyboard.press("/")
        await expect(page.get_by_role("searchbox")).to_be_focused()
        await page.keyboard.type("pirate")
        await expect(page.get_by_role("treeitem")).to_have_count(2)
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("heading", name="ahoy")).to_be_visible()


async def test_arrows_move_through_what_was_found_without_leaving_the_field(
    browser: Browser, yard: Opened
) -> None:
    async with window(browser, yard.link) as page:
        await show(page, "#/explore")
        await expect(page.get_by_role("treeitem").first).to_be_visible()
        await page.keyboard.press("/")
        await expect(page.get_by_role("searchbox")).to_be_focused()
        await page.keyboard.type("test_")
        await expect(page.get_by_role("treeitem", name="countdown")).to_have_count(0)
        await expect(page.get_by_role("treeitem").nth(3)).to_be_visible()
        names = page.locator(".outline-row:not(.owner) .outline-name")
        second = await names.nth(1).inner_text()
        await page.keyboard.press("ArrowDown")
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("heading", level=1)).to_have_text(second)
        await expect(page.get_by_role("searchbox")).to_be_focused()
        await page.keyboard.press("Escape")
        await expect(page.get_by_role("searchbox")).to_have_value("")


async def test_control_k_goes_to_a_tool_or_a_screen_from_anywhere(
    browser: Browser, yard: Opened
) -> None:
    async with window(browser, yard.link) as page:
        await expect(page.get_by_role("article", name="project")).to_be_visible()
        await page.keyboard.press("Control+k")
        await page.keyboard.type("word_c")
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("heading", name="word_count")).to_be_visible()
        await page.keyboard.press("Control+k")
        await page.keyboard.type("traf")
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("heading", name="Traffic")).to_be_visible()
        await page.keyboard.press("Control+k")
        box = page.get_by_role("dialog", name="Go to")
        await expect(box.get_by_role("searchbox")).to_be_focused()
        await page.keyboard.press("ArrowDown")
        await expect(box.get_by_role("option", selected=True)).to_contain_text("Explore")
        await page.keyboard.type("what was typed does not keep it open")
        await page.keyboard.press("Escape")
        await expect(box).to_have_count(0)
        await expect(page.get_by_role("heading", name="Traffic")).to_be_visible()


async def test_a_question_that_appears_has_the_focus(browser: Browser, yard: Opened) -> None:
    async with window(browser, yard.link) as page:
        await show(page, "#/explore/tools/plan_lunch")
        await expect(page.get_by_role("button", name="Run")).to_be_visible()
        await page.locator(".try-form").get_by_role("button", name="Run").focus()
        await page.keyboard.press("Enter")
        await expect(page.get_by_label("dish")).to_be_focused()
        await page.keyboard.press("s")
        await page.keyboard.press("Tab")
        await page.get_by_role("textbox", name="people").fill("2")
        await page.keyboard.press("Enter")
        assert re.search(r"Lunch for 2: s\w+", await result(page))


async def test_roots_are_a_setting_and_are_asked_for_once(browser: Browser, yard: Opened) -> None:
    async with window(browser, yard.link) as page:
        await show(page, "#/explore/tools/test_input_required_result_list_roots")
        await page.get_by_role("button", name="Run").click()
        await page.get_by_label("which folders it may work in").fill("/srv/first")
        await page.get_by_role("button", name="Answer").click()
        assert "file:///srv/first" in await result(page)
        await show(page, "#/settings")
        await page.get_by_label("Folders that tools may work in").fill("/srv/second folder")
        await show(page, "#/explore/tools/test_input_required_result_list_roots")
        await page.get_by_role("button", name="Run").click()
        assert "file:///srv/second%20folder" in await result(page)


async def test_the_theme_is_the_readers_and_stays(browser: Browser, yard: Opened) -> None:
    dark = "getComputedStyle(document.body).color"
    async with window(browser, yard.link, scheme="light") as page:
        light_ink = await page.evaluate(dark)
        await page.get_by_role("button", name=re.compile("Change to light")).click()
        await page.get_by_role("button", name=re.compile("Change to dark")).click()
        ink = await page.evaluate(dark)
        assert ink != light_ink
        await page.reload()
        await expect(page.get_by_role("button", name=re.compile("Theme: dark"))).to_be_visible()
        assert await page.evaluate(dark) == ink
