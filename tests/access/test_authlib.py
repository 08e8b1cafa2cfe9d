"""The whole way at an authorization server made with Authlib, with a person at a real browser."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, expect

from tests.access.test_whole_way import run
from tests.peers.http1 import fetch
from tests.peers.raw_http import HttpClient, over_http
from tests.peers.serving import Listening, listening, serving
from tests.web.browser import chromium, no_chromium, window

pytestmark = pytest.mark.long

NEW = "2026-07-28"
LIFETIME = 5  # of an access token, in seconds
CALL = {"name": "whoami", "arguments": {}}
BY_LINK: dict[str, Any] = {"elicitation": {"url": {}}}


@dataclass(frozen=True)
class Yard:
    """The gateway, the server behind it, and the person's browser."""

    gateway: Listening
    upstream: Listening
    browser: Browser
    registry: Path
    env: dict[str, str]

    @property
    def issuer(self) -> str:
        return self.upstream.stderr[0].split()[0]

    async def seen(self) -> Any:
        async with fetch("GET", f"{self.issuer}/seen") as reply:
            return await reply.json()

    async def grants(self) -> list[str]:
        """By which grants the authorization server gave tokens, in turn."""
        found: list[str] = (await self.seen())["grants"]
        return found


@pytest.fixture
async def yard(tmp_path: Path) -> AsyncIterator[Yard]:
    if (reason := no_chromium()) is not None:
        pytest.skip(reason)
    command = [sys.executable, "-m", "tests.peers.authlib_authority", "--lifetime", str(LIFETIME)]
    env = {"TOOLYARD_CREDENTIALS_DIR": str(tmp_path / "credentials")}
    path = tmp_path / "registry.json"
    async with chromium() as browser, listening(command) as upstream:
        tool = {"name": "whoami", "server": "acme", "inputSchema": {"type": "object"}}
        server = {"name": "acme", "url": upstream.url, "auth": "oauth"}
        path.write_text(json.dumps({"servers": [server], "tools": [tool]}))
        async with serving(path, env=env) as gateway:
            yield Yard(gateway, upstream, browser, path, env)


@asynccontextmanager
async def client_of(yard: Yard, capabilities: dict[str, Any]) -> AsyncIterator[HttpClient]:
    async with over_http(yard.gateway.url, NEW, capabilities=capabilities) as client:
        yield client


async def refusal(yard: Yard) -> str:
    """What a client is told that cannot be asked to open a link."""
    async with client_of(yard, {}) as client:
        result = await client.call("whoami")
    assert result["isError"], result
    return str(result["content"][0]["text"])


async def call(yard: Yard) -> str:
    async with client_of(yard, BY_LINK) as client:
        result = await client.result("tools/call", CALL)
    assert result["resultType"] == "complete" and not result.get("isError"), result
    return str(result["content"][0]["text"])


async def call_and_log_in(yard: Yard, answer: str = "Allow") -> dict[str, Any]:
    """A call that is answered with a link, which a person opens."""
    async with client_of(yard, BY_LINK) as client:
        asked = await client.result("tools/call", CALL)
        assert asked["resultType"] == "input_required", asked
        ((key, question),) = asked["inputRequests"].items()
        assert question["params"]["url"].startswith(f"{yard.issuer}/authorize?")
        async with window(yard.browser, question["params"]["url"]) as page:
            await expect(page.get_by_role("heading")).to_contain_text(
                f"Toolyard wants to use {yard.upstream.url} as grace"
            )
            await page.get_by_role("button", name=answer).click()
            await expect(page.get_by_text("you may close this page")).to_be_visible()
        said = {"inputResponses": {key: {"action": "accept"}}}
        return await client.result(
            "tools/call", {**CALL, **said, "requestState": asked["requestState"]}
        )


async def revoke_by_hand(yard: Yard) -> None:
    async with window(yard.browser, f"{yard.issuer}/account") as page:
        await expect(page.get_by_text("1 allowed")).to_be_visible()
        await page.get_by_role("button", name="Revoke all").click()
        await expect(page.get_by_text("0 allowed")).to_be_visible()


async def test_the_whole_way_at_an_authorization_server_that_is_not_ours(yard: Yard) -> None:
    async with client_of(yard, {}) as client:
        listed = (await client.result("tools/list"))["tools"]
    assert [tool["name"] for tool in listed] == ["whoami"]
    told = await refusal(yard)
    assert told.startswith("acme: ") and "toolyard auth login acme" in told
    denied = await call_and_log_in(yard, "Deny")
    assert denied["isError"] and "access_denied" in denied["content"][0]["text"]
    assert await yard.grants() == []

    assert (await call_and_log_in(yard))["content"][0]["text"] == "grace"
    until = time.monotonic() + LIFETIME
    assert await call(yard) == "grace"
    assert await yard.grants() == ["authorization_code"]  # one token serves many calls

    await asyncio.sleep(until - time.monotonic())  # the server does not take it any more
    assert await call(yard) == "grace"
    assert await yard.grants() == ["authorization_code", "refresh_token"]

    await revoke_by_hand(yard)
    assert "wants a login" in await refusal(yard)
    assert (await call_and_log_in(yard))["content"][0]["text"] == "grace"
    assert (await yard.grants())[-1] == "authorization_code"

    said = await run("auth", "logout", "acme", str(yard.registry), env=yard.env)
    assert said == "acme: logged out"
    assert (await yard.seen())["revocations"] == ["refresh_token"]
    assert "wants a login" in await refusal(yard)
