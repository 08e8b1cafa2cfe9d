"""Markdown in descriptions and results is drawn: no markup, nothing from elsewhere, safe links."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.async_api import Browser, expect

from tests.web.audit import faults
from tests.web.browser import NARROW, keep_picture, show, window
from tests.web.gateway import add_tool, make_project, opened
from tests.web.screens.test_looking import calls_of, use_every_control
from tests.web.trying import result, run

pytestmark = [pytest.mark.long, pytest.mark.asyncio(loop_scope="module")]

ELSEWHERE = "http://127.0.0.1:9"
NOTES = {
    "name": "notes",
    "description": "# Notes\n\nWrites **notes**, see `man notes`:\n\n- one\n- two",
    "inputSchema": {"type": "object"},
}
TEXT = f"""## Cities

| city | people |
|---|---:|
| Oslo | 709 |

1. first, with [a link]({ELSEWHERE}/there)
2. second, with [another](javascript:window.__owned=1)

![a picture]({ELSEWHERE}/picture.png) <b>markup</b> <img src=x onerror="window.__owned=1">

```
code, and a long line {"x" * 300}
```
"""
WRITE = f"#!/usr/bin/env python3\nprint({TEXT!r})\n"


async def test_markdown_is_drawn_and_nothing_in_it_acts(browser: Browser, tmp_path: Path) -> None:
    project = make_project(tmp_path)
    add_tool(project, NOTES, WRITE)
    async with opened(project=project) as yard, window(browser, yard.link) as page:
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        await show(page, "#/explore/tools/notes")
        description = page.locator(".description")
        await expect(description.get_by_role("heading", name="Notes")).to_be_visible()
        await expect(description.get_by_role("listitem")).to_have_text(["one", "two"])
        await expect(description.locator("code")).to_have_text("man notes")
        await run(page)
        await result(page)
        drawn = page.locator(".result .markdown")
        await expect(drawn.get_by_role("heading", name="Cities")).to_be_visible()
        await expect(drawn.locator("td")).to_have_text(["Oslo", "709"])
        link = drawn.get_by_role("link")
        await expect(link).to_have_text(["a link"])
        await expect(link).to_have_attribute("href", f"{ELSEWHERE}/there")
        await expect(link).to_have_attribute("target", "_blank")
        await expect(link).to_have_attribute("rel", "noopener noreferrer")
        await expect(drawn).to_contain_text("image: a picture")
        await expect(drawn).to_contain_text("<b>markup</b>")
        await expect(drawn.locator("img, b")).to_have_count(0)
        assert not [url for url in asked if not url.startswith(yard.server.origin)]
        assert await page.evaluate("window.__owned") is None
        await keep_picture(page, "markdown")
        calls = calls_of(page)
        await page.get_by_role("button", name="text", exact=True).first.click()
        await expect(page.locator(".result pre.prose")).to_contain_text("## Cities")
        await expect(drawn).to_have_count(0)
        assert {"markdown", "text", "Copy"} <= set(await use_every_control(page))
        assert calls == []


async def test_a_long_line_and_a_table_fit_a_narrow_screen(
    browser: Browser, tmp_path: Path
) -> None:
    project = make_project(tmp_path)
    add_tool(project, NOTES, WRITE)
    async with opened(project=project) as yard, window(browser, yard.link, size=NARROW) as page:
        await show(page, "#/explore/tools/notes")
        await run(page)
        await result(page)
        await expect(page.locator(".description .markdown")).to_be_visible()
        await expect(page.locator(".result .markdown")).to_be_visible()
        assert await faults(page) == []
