"""Run what the page shows, and read what came of it."""

from __future__ import annotations

import re

from playwright.async_api import Locator, Page, expect


async def run(page: Page) -> None:
    await page.get_by_role("button", name="Run").click()


async def result(page: Page) -> str:
    await expect(page.locator(".status-line .badge")).to_have_text(
        re.compile("done|failed|cancelled")
    )
    return await page.locator(".outcome").inner_text()


async def paste(page: Page, editor: Locator, text: str) -> None:
    """Replace everything in the editor, as a person with a clipboard would."""
    await page.evaluate("text => navigator.clipboard.writeText(text)", text)
    await editor.click()
    await page.keyboard.press("Control+a")
    await page.keyboard.press("Control+v")
