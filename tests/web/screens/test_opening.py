"""What the browser does until the page shows something: only what its first frames need."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.async_api import Browser, Page, Route, expect

from tests.until import until
from tests.web.browser import Scheme, keep_picture, window
from tests.web.gateway import Opened

pytestmark = [pytest.mark.long, pytest.mark.asyncio(loop_scope="module")]

TIMELINE = ["-*", "devtools.timeline", "v8", "v8.execute"]
SCRIPTS = ("v8.evaluateModule", "RunMicrotasks")
PAGE, OVERVIEW = "**/assets/index-*.js", "**/api/overview"
EARLY = (
    *("/api/overview", "/api/catalog", "/api/traffic"),
    *("/assets/explore.js", "/assets/parts.js", "/assets/explore.css"),
)
# Go on to Explore as soon as Traffic has been drawn, before anything is painted.
FOLLOW = """() => new MutationObserver((_, watcher) => {
  if (!document.querySelector("nav [aria-current][href='#/traffic']")) return;
  watcher.disconnect();
  location.hash = '#/explore';
}).observe(document, { attributes: true, childList: true, subtree: true })"""
GROUND = "() => getComputedStyle(document.documentElement).backgroundColor"


@asynccontextmanager
async def held(page: Page, pattern: str) -> AsyncIterator[None]:
    """Let nothing of that address arrive before the end of the block."""
    release = asyncio.Event()

    async def wait(route: Route) -> None:
        await release.wait()
        await route.continue_()

    await page.route(pattern, wait)
    try:
        yield
    finally:
        release.set()


@asynccontextmanager
async def blank(browser: Browser, yard: Opened, scheme: Scheme = "light") -> AsyncIterator[Page]:
    async with window(browser, f"{yard.server.origin}/icon.svg", scheme=scheme) as page:
        yield page


async def begin(page: Page, link: str) -> None:
    """Open the page without waiting for it: a script that is held keeps it from being loaded."""
    await page.goto(link, wait_until="commit")


def short(url: str) -> str:
    """The path, without what changes with the content of a file."""
    return re.sub(r"(/assets/[a-z]+)-[^.]*", r"\1", urlsplit(url).path)


def spans(events: list[dict[str, Any]], name: str) -> list[tuple[float, float]]:
    """From when to when; what had not ended with the trace has no duration."""
    named = [one for one in events if one["name"] == name and "dur" in one]
    return [(one["ts"], one["ts"] + one["dur"]) for one in named]


@pytest.mark.parametrize(("place", "row"), [("#/", ".server"), ("#/explore", ".outline-row")])
async def test_nothing_is_laid_out_by_scripts_before_the_first_row(
    browser: Browser, yard: Opened, place: str, row: str
) -> None:
    async with window(browser, yard.link) as page:
        await expect(page.locator(".server").first).to_be_visible()
        await page.goto("about:blank")
        await browser.start_tracing(page=page, categories=TIMELINE)
        await page.goto(f"{yard.server.origin}/{place}")
        await expect(page.locator(row).first).to_be_visible()
        events = json.loads(await browser.stop_tracing())["traceEvents"]
    scripts = [span for name in SCRIPTS for span in spans(events, name)]
    layouts = [begin for begin, _ in spans(events, "Layout")]
    assert scripts and layouts
    assert [at for at in layouts if any(start <= at < end for start, end in scripts)] == []


async def test_the_frame_is_shown_before_the_script_of_the_page_is_there(
    browser: Browser, yard: Opened
) -> None:
    async with blank(browser, yard) as page:
        async with held(page, PAGE):
            await begin(page, yard.link)
            await expect(page.get_by_role("link", name="Explore")).to_be_visible()
            await expect(page.get_by_role("status")).to_have_text("Connecting…")
            assert page.url == f"{yard.server.origin}/#/"
            await keep_picture(page, "before-the-script")
            await page.evaluate("() => { document.querySelector('nav').kept = true }")
            text = await page.locator("header.side").inner_text()
        await expect(page.get_by_role("article", name="yard")).to_be_visible()
        # The same elements go on: nothing is drawn a second time.
        assert await page.evaluate("() => document.querySelector('nav').kept")
        await expect(page.locator(".early")).to_have_count(0)
        after = await page.locator("header.side").inner_text()
    same = {"Toolyard": "Toolyard demo", "Connecting…": "Live"}
    assert [same.get(line, line) for line in text.splitlines()] == after.splitlines()


async def test_without_a_token_the_frame_is_not_shown(browser: Browser, yard: Opened) -> None:
    async with blank(browser, yard) as page:
        async with held(page, PAGE):
            await begin(page, yard.server.origin)
            await expect(page.locator(".early nav")).to_be_attached()
            await expect(page.locator(".early")).to_be_hidden()
        await expect(page.get_by_role("heading")).to_have_text("Open the link from the terminal")


async def test_the_first_frame_has_the_theme_that_was_chosen(
    browser: Browser, yard: Opened
) -> None:
    async with blank(browser, yard, "light") as page:
        await page.evaluate("() => localStorage.setItem('toolyard-theme', 'dark')")
        async with held(page, PAGE):
            await begin(page, yard.link)
            await expect(page.get_by_role("link", name="Explore")).to_be_visible()
            assert await page.evaluate(GROUND) == "rgb(19, 20, 22)"
        await expect(page.get_by_role("button", name="Theme: dark")).to_be_visible()


async def test_a_screen_is_asked_for_before_the_script_of_the_page_is_there(
    browser: Browser, yard: Opened
) -> None:
    async with window(browser, yard.link) as page:
        await expect(page.locator(".server").first).to_be_visible()
        await page.goto("about:blank")
        asked: list[str] = []
        page.on("request", lambda request: asked.append(short(request.url)))
        async with held(page, PAGE):
            await begin(page, f"{yard.server.origin}/#/explore")
            await until(lambda: set(EARLY) <= set(asked))
            assert "/api/events" not in asked
        await expect(page.locator(".outline-row").first).to_be_visible()
        # The overview is read again when its changes are followed.
        once = [name for name in EARLY if name != "/api/overview"]
        assert [asked.count(name) for name in once] == [1] * len(once)


async def test_a_link_that_is_followed_at_once_leads_where_it_says(
    browser: Browser, yard: Opened
) -> None:
    async with blank(browser, yard) as page:
        await page.add_init_script(f"({FOLLOW})()")
        async with held(page, PAGE):
            await begin(page, yard.link)
            await page.get_by_role("link", name="Traffic").click()
        await expect(page.get_by_role("treeitem", name="greet").first).to_be_visible()


async def test_an_answer_that_is_late_is_not_waited_for(browser: Browser, yard: Opened) -> None:
    async with blank(browser, yard) as page:
        async with held(page, OVERVIEW):
            await page.goto(yard.link)
            await expect(page.locator("main .skeleton")).to_be_visible()
            await expect(page.get_by_role("link", name="Overview")).to_have_attribute(
                "aria-current", "page"
            )
        await expect(page.get_by_role("article", name="yard")).to_be_visible()
