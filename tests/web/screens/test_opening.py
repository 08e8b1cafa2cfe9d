"""What the browser does until the page is painted: only what the first frame needs."""

from __future__ import annotations

import json
from typing import Any

import pytest
from playwright.async_api import Browser, Page, expect

from tests.web.browser import window
from tests.web.gateway import Opened

pytestmark = [pytest.mark.long, pytest.mark.asyncio(loop_scope="module")]

TIMELINE = ["-*", "devtools.timeline", "v8"]


async def traced(browser: Browser, page: Page, place: str, row: str) -> list[dict[str, Any]]:
    """What the browser did from the start of the page to its first row."""
    await page.goto("about:blank")
    await browser.start_tracing(page=page, categories=TIMELINE)
    await page.goto(place)
    await expect(page.locator(row).first).to_be_visible()
    events: list[dict[str, Any]] = json.loads(await browser.stop_tracing())["traceEvents"]
    return events


def spans(events: list[dict[str, Any]], name: str) -> list[tuple[float, float]]:
    return [(one["ts"], one["ts"] + one["dur"]) for one in events if one["name"] == name]


@pytest.mark.parametrize(("place", "row"), [("#/", ".server"), ("#/explore", ".outline-row")])
async def test_the_page_is_not_laid_out_while_its_scripts_start(
    browser: Browser, yard: Opened, place: str, row: str
) -> None:
    async with window(browser, yard.link) as page:
        await expect(page.locator(".server").first).to_be_visible()
        events = await traced(browser, page, yard.link.partition("#")[0] + place, row)
    modules = spans(events, "v8.evaluateModule")
    assert modules and spans(events, "Layout")
    early = [
        begin
        for begin, _ in spans(events, "Layout")
        if any(start <= begin < end for start, end in modules)
    ]
    assert early == []
