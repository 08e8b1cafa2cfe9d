"""Looking never acts: of all controls beside a tool, one runs it, and Ctrl+Enter does."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from playwright.async_api import Browser, ElementHandle, Error, Page, Request, expect

from tests.web.browser import show, window
from tests.web.gateway import Opened
from tests.web.trying import result, run

pytestmark = [pytest.mark.long, pytest.mark.asyncio(loop_scope="module")]

# The next control that was not used yet: a click may bring others.
NEXT = """(within) => {
  const all = document.querySelectorAll(
    `${within} :is(button, summary, select, input, textarea, .try a[href])`);
  const next = [...all].find((e) => !e.dataset.used && !e.disabled && e.checkVisibility()
    && e.innerText.trim() !== 'Run');
  if (next) next.dataset.used = 'yes';
  return next ?? null;
}"""
NAME = "e => (e.innerText || e.ariaLabel || e.id).trim()"
TYPED = "e => /^(INPUT|SELECT|TEXTAREA)$/.test(e.tagName)"


def calls_of(page: Page) -> list[Any]:
    """The arguments of every call of a tool that the page makes from now on."""
    calls: list[Any] = []

    def noted(request: Request) -> None:
        if request.url.endswith("/api/calls") and request.method == "POST":
            call = json.loads(request.post_data or "{}")
            if call["method"] == "tools/call":
                calls.append(call["params"].get("arguments"))

    page.on("request", noted)
    return calls


async def use_every_control(page: Page, within: str = ".try") -> list[str]:
    """Click each, and press Enter in each field; the names of those that were used."""
    names: list[str] = []
    while len(names) < 200:
        control = (await page.evaluate_handle(NEXT, within)).as_element()
        if control is None:
            break
        try:
            names.append(await use(page, control))
        except Error as error:
            # What was used before took it away.
            assert "not attached" in error.message, error.message
    return names


async def use(page: Page, control: ElementHandle) -> str:
    name: str = await control.evaluate(NAME)
    if await control.evaluate(TYPED):
        await control.focus()
        await page.keyboard.press("Enter")
    else:
        await control.click()
    return name


async def test_of_all_controls_beside_a_tool_only_run_runs_it(
    browser: Browser, yard: Opened
) -> None:
    async with window(browser, yard.link) as page:
        calls = calls_of(page)
        await show(page, "#/explore/tools/form")
        await page.get_by_label("text required").fill("once")
        await run(page)
        await result(page)
        names = await use_every_control(page)
        for way in ("form", "Copy as…"):
            await page.get_by_role("button", name=way, exact=True).click()
            names += await use_every_control(page)
        assert {"form", "json", "curl", "Python", "TypeScript", "Copy", "tree"} <= set(names), names
        await expect(page.get_by_role("button", name="Run")).to_be_visible()
        assert len(calls) == 1, (names, calls)
        async with page.expect_request(re.compile("/api/calls$")):
            await page.get_by_label("text required").press("Control+Enter")
        assert len(calls) == 2


@pytest.mark.parametrize(
    ("place", "content"),
    [
        ("#/", ".servers"),
        ("#/traffic", ".traffic-grid .grid-row"),
        ("#/health", ".journal"),
        ("#/history", ".history-grid .grid-row"),
        ("#/context", ".views"),
        ("#/settings", "h1"),
    ],
)
async def test_no_control_of_a_screen_runs_a_tool(
    browser: Browser, yard: Opened, place: str, content: str
) -> None:
    async with window(browser, yard.link) as page:
        await show(page, "#/explore/tools/form")
        await page.get_by_label("text required").fill("once")
        await run(page)
        await result(page)
        calls = calls_of(page)
        await show(page, place)
        await expect(page.locator(f"main {content}").first).to_be_visible()
        names = await use_every_control(page, "main")
        assert names, place
        assert calls == [], names


async def test_nothing_in_the_graph_runs_a_tool(browser: Browser, yard: Opened) -> None:
    async with window(browser, yard.link) as page:
        calls = calls_of(page)
        await show(page, "#/explore?view=graph")
        spots = page.locator(".spot:not(.owner)")
        await expect(spots.first).to_be_visible()
        for number in range(min(6, await spots.count())):
            await spots.nth(number).press("Enter")
            await expect(page.locator(".entry h1")).to_be_visible()
            await show(page, "#/explore?view=graph")
            await expect(spots.first).to_be_visible()
        assert calls == []


async def test_wrong_json_runs_nothing_and_nothing_older_either(
    browser: Browser, yard: Opened
) -> None:
    async with window(browser, yard.link) as page:
        calls = calls_of(page)
        await show(page, "#/explore/tools/form")
        await page.get_by_role("button", name="json", exact=True).click()
        field = page.get_by_label("Arguments as JSON")
        for wrong in ('{"text": ', "[1]", '"text"'):
            await field.fill('{"text": "older"}')
            await field.fill(wrong)
            await field.press("Control+Enter")
            await expect(page.get_by_role("button", name="Run")).to_be_disabled()
        assert calls == []
        await field.fill('{"text": "newer"}')
        await field.press("Control+Enter")
        assert "newer" in await result(page)
        assert calls == [{"text": "newer"}]


async def test_a_resource_is_read_at_once(browser: Browser, yard: Opened) -> None:
    (uri,) = [
        one["uri"]
        for one in (await yard.api.get("catalog"))["resources"]
        if one["name"] == "welcome"
    ]
    async with window(browser, yard.link) as page:
        await show(page, "#/explore")
        await page.get_by_role("treeitem").filter(has_text="welcome").first.click()
        await expect(page.locator(".result")).to_contain_text("Welcome")
        await expect(page.locator(".result")).to_contain_text(uri)
        await show(page, "#/history")
        await expect(page.get_by_text("No runs yet")).to_be_visible()
