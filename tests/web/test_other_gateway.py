"""The page over another gateway: one of ours, and one that looks like an agentgateway."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from playwright.async_api import Browser, expect

from tests.peers.serving import listening, toolyard
from tests.web.browser import keep_picture, show, window
from tests.web.gateway import SECRET, Api, Opened, found, settled

pytestmark = [pytest.mark.long, pytest.mark.asyncio(loop_scope="module")]


@asynccontextmanager
async def over(other: Opened, *flags: str | Path) -> AsyncIterator[tuple[Api, str]]:
    """`toolyard page` pointed at that gateway."""
    command = toolyard("page", "--gateway", other.server.url, "--http", "127.0.0.1:0", *flags)
    env = {"TOOLYARD_GATEWAY_TOKEN": other.api.token}
    async with listening(command, env=env) as server:
        link, token = await found(server)
        api = Api(server.origin, token)
        await settled(api)
        yield api, link


async def test_one_of_ours_is_shown_with_its_registry_and_says_so(
    browser: Browser, yard: Opened
) -> None:
    async with over(yard) as (api, link), window(browser, link) as page:
        banner = page.get_by_role("region", name="Gateway")
        await expect(banner).to_contain_text("toolyard")
        await expect(banner).to_contain_text(yard.server.url)
        await expect(banner).to_contain_text("/registry")
        tools = {tool["name"]: tool for tool in (await api.get("catalog"))["tools"]}
        assert (tools["ahoy"]["source"], tools["ahoy"]["version"]) == ("greet", "1.2.0")
        assert tools["word_count"]["projected"] is True
        await show(page, "#/explore/tools/ahoy")
        await page.get_by_label("name").last.fill("Fay")
        await page.get_by_role("button", name="Run").click()
        await expect(page.locator(".result")).to_contain_text("Ahoy, Fay!")
        await show(page, "#/explore/tools/ahoy?part=origin")
        await expect(page.get_by_text("registry entry ahoy").first).to_be_visible()
        await keep_picture(page, "other-gateway")
        assert SECRET not in json.dumps(await api.get("registry"))


async def test_an_agentgateway_is_recognised_by_its_registry(yard: Opened) -> None:
    registry = f"{yard.server.origin}/registry?format=agentgateway"
    async with over(yard, "--gateway-registry", registry) as (api, _):
        seen = await api.get("overview")
        assert seen["place"]["gateway"]["kind"] == "agentgateway"
        (file,) = (await api.get("registry"))["files"]
        assert file["editable"] is False
        assert {server["name"] for server in file["native"]["servers"]} >= {"peer", "yard"}


async def test_its_registry_can_come_from_a_file(yard: Opened, tmp_path: Path) -> None:
    tool = {"name": "ahoy", "source": {"target": "somewhere", "tool": "hello"}}
    path = tmp_path / "theirs.json"
    path.write_text(json.dumps({"schemaVersion": "1.0", "tools": [tool]}))
    async with over(yard, "--gateway-registry", path) as (api, _):
        tools = {one["name"]: one for one in (await api.get("catalog"))["tools"]}
        assert tools["ahoy"]["owner"] == "somewhere"
        servers = {row["name"]: row for row in (await api.get("overview"))["servers"]}
        assert servers["somewhere"]["state"] == "behind the gateway"


async def test_without_its_registry_its_tools_are_shown_and_the_reason(yard: Opened) -> None:
    registry = f"{yard.server.origin}/nothing"
    async with over(yard, "--gateway-registry", registry) as (api, _):
        shown = (await api.get("overview"))["place"]["gateway"]
        assert (shown["kind"], "404" in shown["why"]) == ("MCP server", True)
        assert "ahoy" in {one["name"] for one in (await api.get("catalog"))["tools"]}
        assert (await api.get("registry"))["files"] == []


async def test_nothing_of_another_gateway_can_be_saved(yard: Opened) -> None:
    async with over(yard) as (api, _):
        (file,) = (await api.get("registry"))["files"]
        body = {"path": file["path"], "stamp": file["stamp"], "sections": {"tools": "[]"}}
        assert (await api.send("PUT", "registry", body))[0] == 403
