"""Logins at OAuth servers from the page, with a real authorization server."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, Locator, Page, expect

from tests.peers.authority import authority
from tests.peers.protected import Protected, protected
from tests.until import until
from tests.web.browser import show, window
from tests.web.gateway import Opened, opened

pytestmark = [pytest.mark.long, pytest.mark.asyncio(loop_scope="module")]


@asynccontextmanager
async def behind_a_login(
    folder: Path, issuing: Mapping[str, Any] | None = None, **more: str
) -> AsyncIterator[tuple[Opened, Protected]]:
    with authority(**(issuing or {})) as issuer, protected(issuer) as upstream:
        tool = {"name": "whoami", "server": "acme", "inputSchema": {"type": "object"}}
        server = {"name": "acme", "url": upstream.url, "auth": "oauth", **more}
        path = folder / "registry.json"
        path.write_text(json.dumps({"servers": [server], "tools": [tool]}))
        env = {"XDG_STATE_HOME": str(folder / "state")}
        async with opened(project=path, env=env) as yard:
            yield yard, upstream


async def logged_in(page: Page) -> Locator:
    """The server's row, once the person at the page has logged in there."""
    await show(page, "#/connect")
    row = page.get_by_role("listitem", name="acme")
    async with page.context.expect_page() as opening:
        await row.get_by_role("button", name="Log in").click()
    login = await opening.value
    await expect(login.get_by_text("you may close this page")).to_be_visible()
    assert await login.evaluate("window.opener") is None
    return row


async def test_only_servers_of_the_registry_can_be_named(tmp_path: Path) -> None:
    async with behind_a_login(tmp_path) as (yard, upstream):
        assert (await yard.api.send("POST", "logins/http%3A%2F%2Fevil.example"))[0] == 404
        assert (await yard.api.send("DELETE", "logins/nobody"))[0] == 404
        (row,) = (await yard.api.get("logins"))["logins"]
        assert (row["server"], row["loggedIn"], row["url"]) == ("acme", False, upstream.url)
        assert upstream.site.asked == []


async def test_the_page_logs_in_calls_and_logs_out(browser: Browser, tmp_path: Path) -> None:
    async with behind_a_login(tmp_path) as (yard, upstream), window(browser, yard.link) as page:
        await expect(page.get_by_role("article", name="acme")).to_contain_text("needs login")
        row = await logged_in(page)
        await expect(row).to_contain_text("logged in")
        await expect(row).to_contain_text(upstream.authority.issuer)
        await show(page, "#/explore/tools/whoami")
        await page.get_by_role("button", name="Run").click()
        await expect(page.locator(".result")).to_contain_text("ada")
        token = upstream.received[0][0]
        for path in ("logins", "overview", "traffic", "registry"):
            assert token not in json.dumps(await yard.api.get(path))
        await show(page, "#/connect")
        await row.get_by_role("button", name="Log out").click()
        await expect(row).to_contain_text("not logged in")


async def test_a_call_that_needs_a_login_asks_for_it_in_the_page(
    browser: Browser, tmp_path: Path
) -> None:
    async with behind_a_login(tmp_path) as (yard, _), window(browser, yard.link) as page:
        await show(page, "#/explore/tools/whoami")
        await page.get_by_role("button", name="Run").click()
        question = page.locator(".question")
        await expect(question).to_contain_text("wants you to log in")
        async with page.context.expect_page() as opening:
            await question.get_by_role("link").click()
        await (await opening.value).get_by_text("you may close this page").wait_for()
        await expect(page.locator(".result")).to_contain_text("ada")


async def test_a_call_and_the_connect_screen_share_one_login(
    browser: Browser, tmp_path: Path
) -> None:
    async with behind_a_login(tmp_path) as (yard, _), window(browser, yard.link) as page:
        await show(page, "#/explore/tools/whoami")
        await page.get_by_role("button", name="Run").click()
        await expect(page.locator(".question")).to_contain_text("wants you to log in")
        await show(page, "#/connect")
        row = page.get_by_role("listitem", name="acme")
        await expect(row).to_contain_text("waiting for you")
        await logged_in(page)
        await expect(row).to_contain_text("logged in", timeout=5_000)
        await until(lambda: outcomes(yard, "whoami", "ok"))
        await show(page, "#/explore/tools/whoami")
        await page.get_by_role("button", name="Run").click()
        await expect(page.locator(".result")).to_contain_text("ada", timeout=5_000)


async def outcomes(yard: Opened, name: str, outcome: str) -> bool:
    lines = (await yard.api.get("traffic"))["lines"]
    return any(line["name"] == name and line["outcome"] == outcome for line in lines)


async def test_a_call_that_waits_for_its_person_says_so_with_the_link(
    browser: Browser, tmp_path: Path
) -> None:
    async with behind_a_login(tmp_path) as (yard, _), window(browser, yard.link) as page:
        await show(page, "#/explore/tools/whoami")
        await page.get_by_role("button", name="Run").click()
        await page.get_by_role("button", name="I have done it").click()
        await expect(page.locator(".status-line")).to_contain_text("waits for you")
        waits = page.get_by_text("The call waits until you are done at")
        await expect(waits.get_by_role("link")).to_be_visible()
        await page.get_by_role("button", name="Cancel").click()
        await expect(page.locator(".status-line")).to_have_text(re.compile("^cancelled"))
        await expect(waits).to_have_count(0)


async def test_a_login_that_is_over_says_so_and_is_renewed_by_a_click(
    browser: Browser, tmp_path: Path
) -> None:
    short = {"lifetime": 1, "renews": False}
    async with (
        behind_a_login(tmp_path, short) as (yard, _),
        window(browser, yard.link) as page,
    ):
        row = await logged_in(page)
        await expect(row.locator(".badge")).to_have_text("expired")
        await expect(row).to_contain_text("log in again")
        await expect(row.get_by_role("button", name="Log in again")).to_be_visible()


async def test_the_page_shows_what_a_server_lists_to_whoever_has_logged_in(
    browser: Browser, tmp_path: Path
) -> None:
    async with (
        behind_a_login(tmp_path, expose="all", prefix="own_") as (yard, _),
        window(browser, yard.link) as page,
    ):
        row = await logged_in(page)
        await show(page, "#/explore")
        await expect(page.get_by_text("own_whoami").first).to_be_visible()
        await show(page, "#/explore/tools/own_whoami")
        await page.get_by_role("button", name="Run").click()
        await expect(page.locator(".result")).to_contain_text("ada")
        await show(page, "#/connect")
        await row.get_by_role("button", name="Log out").click()
        await show(page, "#/explore")
        await expect(page.get_by_text("own_whoami")).to_have_count(0)
        await expect(page.get_by_text("whoami").first).to_be_visible()
