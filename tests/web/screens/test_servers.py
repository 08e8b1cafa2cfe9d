"""Servers that do not run are shown where their tools would be, with the reason."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from playwright.async_api import Browser, expect

from tests.web.browser import NARROW, keep_picture, show, window
from tests.web.gateway import make_project, opened

pytestmark = [pytest.mark.long, pytest.mark.asyncio(loop_scope="module")]

# A port where nobody listens: connections to it are refused.
NOBODY = "http://127.0.0.1:9/mcp"
SERVERS = [
    {"name": "nobody", "url": NOBODY, "description": "Knows the <b>weather</b>", "expose": "all"},
    {"name": "off", "url": NOBODY, "disabled": "not before spring"},
]


def project_with_servers(folder: Path) -> Path:
    project = make_project(folder)
    file = project / "registry.json"
    registry = json.loads(file.read_text().split("\n", 1)[1])
    registry["servers"] += SERVERS
    file.write_text(json.dumps(registry))
    return project


async def test_explore_shows_servers_that_do_not_run_and_why(
    browser: Browser, tmp_path: Path
) -> None:
    project = project_with_servers(tmp_path)
    async with opened(project=project) as yard, window(browser, yard.link) as page:
        await show(page, "#/explore")
        rows = page.get_by_role("treeitem")
        await expect(rows.filter(has_text=re.compile("^gonefailed"))).to_be_visible()
        await expect(rows.filter(has_text="/nonexistent/program")).to_be_visible()
        await rows.filter(has_text=re.compile("^nobodyfailed")).click()
        summary = page.get_by_role("region", name="Server")
        await expect(summary).to_contain_text("Knows the <b>weather</b>")
        await expect(summary).to_contain_text("Connection refused")
        await keep_picture(page, "explore-server")
        await summary.get_by_role("link", name="Retry now").click()
        await expect(page.get_by_role("heading", name="Health")).to_be_visible()
        journal = page.get_by_role("article", name="nobody")
        await journal.get_by_role("button", name="Retry now").click()
        await journal.get_by_text("Journal").click()
        await expect(journal.get_by_text("tried again by hand").first).to_be_visible()


async def test_a_server_that_was_switched_off_is_no_trouble(
    browser: Browser, tmp_path: Path
) -> None:
    project = project_with_servers(tmp_path)
    async with opened(project=project) as yard, window(browser, yard.link) as page:
        colours = {
            name: await page.get_by_role("article", name=name, exact=True)
            .locator(".server-trouble")
            .evaluate("e => getComputedStyle(e).color")
            for name in ("gone", "nobody", "off")
        }
        assert colours["gone"] == colours["nobody"] != colours["off"]
        await show(page, "#/health")
        journal = page.get_by_role("article", name="off", exact=True)
        await expect(journal).to_contain_text("not before spring")
        await expect(journal.get_by_role("button", name="Retry now")).to_have_count(0)
        await show(page, "#/explore")
        await page.get_by_role("tree", name="What is served").press("End")
        rows = page.get_by_role("treeitem")
        await expect(rows.filter(has_text=re.compile("^offdisabled"))).to_be_visible()
        await expect(rows.last).to_have_text("not before spring")


async def test_a_server_without_tools_is_found_by_its_description(
    browser: Browser, tmp_path: Path
) -> None:
    project = project_with_servers(tmp_path)
    async with opened(project=project) as yard, window(browser, yard.link, size=NARROW) as page:
        await show(page, "#/explore")
        await page.get_by_role("searchbox", name="Search").fill("WEATHER")
        names = page.locator(".outline-row.owner .outline-name")
        await expect(names).to_have_text(["nobody"])
