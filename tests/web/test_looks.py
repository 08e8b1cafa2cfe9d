"""Every screen in light and dark, wide and narrow: kept as a picture, and audited."""

from __future__ import annotations

import pytest
from playwright.async_api import Browser, Page, expect

from tests.web.audit import SHIFT, faults, reached_by_tab
from tests.web.browser import NARROW, WIDE, Scheme, keep_picture, show, window
from tests.web.gateway import Opened

pytestmark = [pytest.mark.long, pytest.mark.asyncio(loop_scope="module")]

# Screen -> its place, and what is there when it has everything.
SCREENS = {
    "overview": ("#/", ".servers"),
    "explore": ("#/explore", ".outline-row"),
    "graph": ("#/explore?view=graph", ".spot"),
    "try": ("#/explore/tools/form", ".try-form .field"),
    "definition": ("#/explore/tools/ahoy?part=definition", ".diff-row"),
    "schemas": ("#/explore/tools/form?part=schemas", ".members"),
    "origin": ("#/explore/tools/ahoy?part=origin", ".facts"),
    "shape": ("#/explore/tools/form?part=shape", ".shape-form"),
    "tasks": ("#/tasks", "h1"),
    "health": ("#/health", ".journal"),
    "settings": ("#/settings", "textarea"),
    "traffic": ("#/traffic", ".traffic-grid .grid-row"),
    "call": ("#/traffic/{number}", ".timeline"),
    "history": ("#/history", ".history-grid .grid-row"),
    "context": ("#/context", ".views"),
    "registry": ("#/registry", ".editor"),
    "connect": ("#/connect", ".snippet"),
}


async def run_one(page: Page) -> None:
    await show(page, "#/explore/tools/ahoy")
    await page.get_by_role("button", name="Run").click()
    await expect(page.locator(".stages")).to_be_visible()


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_every_screen_is_readable_and_fits(
    browser: Browser, yard: Opened, scheme: Scheme, size: tuple[int, int]
) -> None:
    async with window(browser, yard.link, scheme=scheme, size=size) as page:
        await run_one(page)
        wrong = {"run": await faults(page)}
        await keep_picture(page, f"run-{scheme}-{size[0]}")
        number = (await yard.api.get("traffic"))["lines"][0]["number"]
        for name, (place, content) in SCREENS.items():
            await show(page, place.format(number=number))
            await expect(page.locator(content).first).to_be_visible()
            wrong[name] = await faults(page)
            await keep_picture(page, f"{name}-{scheme}-{size[0]}")
        assert {name: found for name, found in wrong.items() if found} == {}


async def test_a_question_is_readable_in_both_schemes(browser: Browser, yard: Opened) -> None:
    for scheme in ("light", "dark"):
        async with window(browser, yard.link, scheme=scheme) as page:
            await show(page, "#/explore/tools/plan_lunch")
            await page.get_by_role("button", name="Run").click()
            await expect(page.get_by_role("button", name="Answer")).to_be_visible()
            assert await faults(page) == []
            await keep_picture(page, f"question-{scheme}-{WIDE[0]}")


async def test_nothing_moves_while_the_page_loads(browser: Browser, yard: Opened) -> None:
    async with window(browser, yard.link) as page:
        await expect(page.locator(".servers")).to_be_visible()
        assert await page.evaluate(SHIFT) < 0.1


async def test_tab_reaches_every_action_in_reading_order(browser: Browser, yard: Opened) -> None:
    async with window(browser, yard.link) as page:
        await show(page, "#/explore/tools/ahoy")
        await expect(page.locator(".try-form")).to_be_visible()
        names = await reached_by_tab(page)
        wanted = ["Skip to the content", "Overview", "Explore", "Connect", "Search"]
        wanted += ["What is served", "Try it", "form", "Run", "Copy as…"]
        places = [names.index(name) for name in wanted]
        assert places == sorted(places)


async def test_the_skip_link_leads_to_the_content(browser: Browser, yard: Opened) -> None:
    async with window(browser, yard.link) as page:
        await expect(page.locator(".servers")).to_be_visible()
        await page.keyboard.press("Tab")
        await page.keyboard.press("Enter")
        assert await page.evaluate("document.activeElement.id") == "main"
