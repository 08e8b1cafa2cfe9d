"""A real headless Chromium for tests, and what must hold on every page it opens."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Literal

from playwright.async_api import Browser, Page, async_playwright, expect

from tests.peers.serving import ROOT

Scheme = Literal["light", "dark"]
OUTPUT = ROOT / "test-output"
STATIC = ROOT / "src" / "toolyard" / "web" / "static"
WIDE, NARROW = (1280, 820), (390, 844)
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
# The browser logs answers of 4xx by itself; tests look at those on purpose.
EXPECTED = ("Failed to load resource",)
# Milliseconds; only a test that fails waits that long.
SOON = 60_000
expect.set_options(timeout=SOON)


def no_chromium() -> str | None:
    """Why no browser can be started here."""
    if shutil.which("chromium") is None:
        return "no `chromium` on this machine (Debian: apt-get install chromium)"
    return None


def missing() -> str | None:
    """Why there can be no tests of our page here."""
    if (reason := no_chromium()) is not None:
        return reason
    if not (STATIC / "index.html").is_file():
        return "the page is not built (python frontend/build.py)"
    return None


@asynccontextmanager
async def chromium() -> AsyncIterator[Browser]:
    async with async_playwright() as driver:
        path = shutil.which("chromium")
        browser = await driver.chromium.launch(executable_path=path, args=FLAGS)
        try:
            yield browser
        finally:
            await browser.close()


@asynccontextmanager
async def window(
    browser: Browser,
    link: str,
    *,
    scheme: Scheme = "light",
    size: tuple[int, int] = WIDE,
    expected: tuple[str, ...] = EXPECTED,
) -> AsyncIterator[Page]:
    """A fresh page on the link; leaving the block fails the test if it complained.

    Of what the browser logs by itself, what begins like one of `expected` is no complaint.
    """
    context = await browser.new_context(
        viewport={"width": size[0], "height": size[1]},
        color_scheme=scheme,
        reduced_motion="reduce",
        permissions=["clipboard-read", "clipboard-write"],
    )
    context.set_default_timeout(SOON)
    page = await context.new_page()
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(f"error: {error}"))
    page.on("dialog", lambda dialog: complaints.append(f"dialog: {dialog.message}"))
    page.on(
        "console",
        lambda said: (
            complaints.append(f"console: {said.text}")
            if said.type in ("error", "warning") and not said.text.startswith(expected)
            else None
        ),
    )
    try:
        await page.goto(link)
        yield page
        assert complaints == []
    except BaseException:
        await keep_picture(page, "last-failure")
        print(page.url, *complaints, await page.locator("body").inner_text(), sep="\n")
        raise
    finally:
        await context.close()


async def show(page: Page, place: str) -> None:
    """Go to a part of the page: `show(page, "#/traffic")`."""
    await page.evaluate("place => { location.hash = place }", place)


async def keep_picture(page: Page, name: str) -> Path:
    OUTPUT.mkdir(exist_ok=True)
    path = OUTPUT / f"{name}.png"
    await page.screenshot(path=path)
    return path
