"""Whatever an upstream says, the page shows it as text: nothing runs, nothing breaks."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import quote

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect

from tests.peers.serving import ROOT
from tests.web.audit import PILED
from tests.web.audit import WIDE as TOO_WIDE
from tests.web.browser import NARROW, keep_picture, show, window
from tests.web.gateway import Opened, opened
from tests.web.hostile import PAYLOADS, SCRIPT

pytestmark = [pytest.mark.long, pytest.mark.asyncio(loop_scope="module")]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def hostile(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Opened]:
    folder: Path = tmp_path_factory.mktemp("hostile")
    command = {"command": sys.executable, "args": ["-m", "tests.web.hostile"]}
    environ = {"PYTHONPATH": str(ROOT)}
    names = {"name": "<b>evil</b>", "stdio": command, "env": environ, "expose": "all"}
    tools = [
        {"name": f"<i>{key}</i>", "source": f"payload_{key}", "description": text, "version": text}
        for key, text in PAYLOADS.items()
    ]
    path = folder / "registry.json"
    path.write_text(json.dumps({"servers": [names], "tools": tools}))
    async with opened(project=path) as yard:
        yield yard


async def is_unharmed(page: Page) -> None:
    """Nothing ran, nothing was added, nothing sticks out, nothing leads anywhere else."""
    assert await page.evaluate("window.__owned") is None
    assert await page.locator("iframe, object, embed, h1:text('out')").count() == 0
    # early.js and index.js, which came with index.html.
    assert await page.locator("script").count() == await page.locator("head > script").count() == 2
    links = await page.locator("a[href]").evaluate_all("all => all.map(a => a.protocol)")
    assert set(links) <= {"http:", "https:"}
    assert await page.evaluate(TOO_WIDE) == []
    assert await page.evaluate(PILED) == []
    assert await page.locator("body").is_visible()


async def test_overview_and_lists_show_it_as_text(browser: Browser, hostile: Opened) -> None:
    async with window(browser, hostile.link, size=NARROW) as page:
        await expect(page.get_by_role("article")).to_contain_text("<b>evil</b>")
        await is_unharmed(page)
        places = {
            "#/explore": ".outline-row",
            "#/explore?view=graph": ".spot",
            "#/registry": "h1",
            "#/connect": ".snippet",
        }
        for place, content in places.items():
            await show(page, place)
            await expect(page.locator(f"main {content}").first).to_be_visible()
            await is_unharmed(page)
        await keep_picture(page, "payloads-connect")


async def test_tools_made_of_it_are_shown_and_tried(browser: Browser, hostile: Opened) -> None:
    async with window(browser, hostile.link) as page:
        for key in PAYLOADS:
            place = f"#/explore/tools/{quote(f'<i>{key}</i>', safe='')}"
            await show(page, place)
            await expect(page.get_by_role("heading", name=f"<i>{key}</i>")).to_be_visible()
            await page.get_by_role("button", name="Run").click()
            await expect(page.locator(".status-line .badge")).not_to_have_text("running")
            await is_unharmed(page)
            await keep_picture(page, f"payload-{key}")
            for part in ("definition", "schemas", "origin"):
                await show(page, f"{place}?part={part}")
                await is_unharmed(page)


async def test_names_made_of_it_can_be_opened(browser: Browser, hostile: Opened) -> None:
    async with window(browser, hostile.link) as page:
        for text in PAYLOADS.values():
            for kind, one in (("tools", text[:120]), ("prompts", text), ("resources", text)):
                await show(page, f"#/explore/{kind}/{quote(one, safe='')}")
                await expect(page.locator(".entry")).to_be_visible()
                await is_unharmed(page)


async def test_a_megabyte_is_cut_and_the_page_stays_quick(
    browser: Browser, hostile: Opened
) -> None:
    async with window(browser, hostile.link) as page:
        await show(page, "#/explore/tools/huge")
        await page.get_by_role("button", name="Run").click()
        await expect(page.get_by_text("of 1,000,000 characters").first).to_be_visible()
        await page.get_by_role("button", name="Show more").first.click()
        await is_unharmed(page)
        assert len(await page.locator("body").inner_text()) < 600_000


async def test_errors_and_traffic_show_it_as_text(browser: Browser, hostile: Opened) -> None:
    async with window(browser, hostile.link) as page:
        await show(page, "#/explore/tools/payload_empty")
        await page.get_by_role("button", name="Run").click()
        await expect(page.locator(".outcome .banner")).to_contain_text(SCRIPT)
        await is_unharmed(page)
        await show(page, "#/traffic")
        rows = page.locator(".traffic-grid").get_by_role("link")
        await rows.filter(has_text="payload_empty").first.click()
        await expect(page.locator(".call .banner")).to_contain_text(SCRIPT)
        await is_unharmed(page)


async def test_characters_that_deceive_are_spelled_out(browser: Browser, hostile: Opened) -> None:
    async with window(browser, hostile.link) as page:
        await show(page, f"#/explore/tools/{quote(PAYLOADS['bidi'], safe='')}")
        heading = page.get_by_role("heading", level=1)
        await expect(heading).to_contain_text("U+202E")
        await expect(heading).to_contain_text("U+200B")


async def test_a_flood_of_them_does_not_let_the_last_ones_through(
    browser: Browser, hostile: Opened
) -> None:
    async with window(browser, hostile.link) as page:
        await show(page, f"#/explore/tools/{quote('<i>flood</i>', safe='')}")
        await expect(page.locator(".entry")).to_contain_text("txt.exe")
        assert "\u202e" not in await page.locator(".entry").inner_text()


async def test_marks_upon_marks_are_counted_and_a_few_are_shown(
    browser: Browser, hostile: Opened
) -> None:
    async with window(browser, hostile.link) as page:
        await show(page, f"#/explore/tools/{quote('<i>combining</i>', safe='')}")
        piled = page.locator(".entry .text").filter(has_text="more marks").first
        await expect(piled).to_have_text("Z\u0301\u0322\u0301\u0322596 more marks")
