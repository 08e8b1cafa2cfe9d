"""Run what the page shows, and read what came of it."""

from __future__ import annotations

import re

from playwright.async_api import Page, expect


async def run(page: Page) -> None:
    await page.get_by_role("button", name="Run").click()


async def result(page: Page) -> str:
    await expect(page.locator(".status-line .badge")).to_have_text(
        re.compile("done|failed|cancelled")
    )
    return await page.locator(".outcome").inner_text()
