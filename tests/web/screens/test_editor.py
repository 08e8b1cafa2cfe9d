"""The editor for the registry: colours, completion from the schema, problems at their line."""

from __future__ import annotations

import re

import pytest
from playwright.async_api import Browser, Locator, Page, expect

from tests.web.browser import show, window
from tests.web.gateway import Opened, opened
from tests.web.trying import paste

pytestmark = [pytest.mark.long, pytest.mark.asyncio(loop_scope="module")]


async def editor_of(page: Page) -> Locator:
    await show(page, "#/registry")
    editor = page.get_by_role("textbox", name="tools of the registry")
    await expect(editor).to_be_visible()
    return editor


async def test_it_is_loaded_only_where_it_is_used(browser: Browser, yard: Opened) -> None:
    async with window(browser, yard.link) as page:
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        for place in ("#/", "#/explore/tools/ahoy", "#/traffic", "#/connect"):
            await show(page, place)
        await expect(page.get_by_role("heading", name="Connect")).to_be_visible()
        assert not [url for url in asked if "editor" in url]
        await editor_of(page)
        assert [url for url in asked if re.search(r"/assets/editor-\w+", url)]


async def test_keys_values_and_comments_have_colours_of_their_own(
    browser: Browser, yard: Opened
) -> None:
    async with window(browser, yard.link) as page:
        editor = await editor_of(page)
        await paste(
            page, editor, '[\n  // said\n  {"name": "x", "hidden": true, "timeoutSecs": 3}\n]'
        )
        colours = {
            text: await editor.get_by_text(text, exact=True).first.evaluate(
                "e => getComputedStyle(e).color"
            )
            for text in ('"name"', '"x"', "true", "3", "// said")
        }
        assert len(set(colours.values())) == 5, colours


async def test_keys_and_values_are_completed_from_the_schema(
    browser: Browser, yard: Opened
) -> None:
    async with window(browser, yard.link) as page:
        editor = await editor_of(page)
        await paste(page, editor, '[{"name": "x", }]')
        for _ in range(2):
            await page.keyboard.press("ArrowLeft")
        await page.keyboard.type('"valid')
        offers = page.get_by_role("option")
        await expect(offers).to_have_text([re.compile("validationMode")])
        await page.keyboard.press("Enter")
        await expect(editor).to_contain_text('"validationMode"')
        await paste(page, editor, '[{"name": "x", "validationMode": ""}]')
        for _ in range(3):
            await page.keyboard.press("ArrowLeft")
        await page.keyboard.type("s")
        await expect(offers).to_have_text([re.compile("skip"), re.compile("strict")])
        await page.keyboard.press("Escape")
        await paste(page, editor, '[{"name": "x", "source": ""}]')
        for _ in range(3):
            await page.keyboard.press("ArrowLeft")
        await page.keyboard.type("gre")
        await expect(offers.first).to_contain_text("greet")
        await page.keyboard.press("Escape")
        await paste(page, editor, "")
        typed = "what was typed is what is there"
        await page.keyboard.type(typed)
        await expect(editor).to_have_text(typed)


async def test_problems_are_marked_at_their_line_while_one_types(browser: Browser) -> None:
    wrong = '[\n  {"name": "a", "source": "greet"},\n  {"name": "b", "source": "a", "hidden": 1}\n]'
    async with opened() as yard, window(browser, yard.link) as page:
        editor = await editor_of(page)
        await paste(page, editor, wrong)
        mark = editor.locator(".cm-lintRange-error")
        await expect(mark.first).to_be_visible()
        line = editor.locator(".cm-line").filter(has=page.locator(".cm-lintRange-error"))
        await expect(line).to_contain_text('"hidden": 1')
        await expect(page.get_by_label("Problems")).to_contain_text("tools, line 3")
        await mark.first.hover()
        await expect(page.locator(".cm-tooltip")).to_contain_text("must be true or false")
        await paste(page, editor, '[\n  {"name": "a" "source": "greet"}\n]')
        await expect(page.get_by_role("alert")).to_contain_text("line 2")
        await expect(line).to_contain_text('"name": "a"')
        before = yard.registry.read_text()
        await paste(page, editor, "[]")
        await expect(page.get_by_role("button", name="Save")).to_be_enabled()
        await page.get_by_role("button", name="Save").click()
        await expect(page.get_by_role("status").last).to_have_text("Saved.")
        after = yard.registry.read_text()
        assert after.split('"tools"')[0] == before.split('"tools"')[0]
        assert '"schemas": {}' not in after
