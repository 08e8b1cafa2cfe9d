"""What HTTP answers beside /mcp: /status, /registry and /healthz."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest

from tests.gateway.yard import ECHO, SEARCH, Yard
from tests.peers.http1 import fetch
from tests.peers.raw import MODERN
from tests.peers.raw_http import over_http
from tests.peers.serving import Listening, serving

SECRET = "s3cr3t-of-the-yard"
Headers = Mapping[str, str]


async def get(
    server: Listening, path: str, headers: Headers | None = None, method: str = "GET"
) -> tuple[int, str]:
    async with fetch(method, f"{server.origin}{path}", headers or {}) as got:
        return got.status, (await got.body()).decode()


async def page_token(server: Listening) -> Headers:
    """It is printed once, after the address."""
    token = (await server.says(r"(?:#token=|token is )(\S+)"))[1]
    return {"Authorization": f"Bearer {token}"}


@pytest.fixture
def secretive(yard: Yard) -> Yard:
    server = yard.upstream("u", SEARCH, ECHO)
    server["env"] = {"TOKEN": "${TOKEN}", "PLAIN": SECRET}
    server["stdio"]["args"].append(f"--password={SECRET}")
    yard.registry(
        servers=[
            server,
            {"name": "r", "url": f"http://me:{SECRET}@127.0.0.1:9/mcp?key={SECRET}"},
        ],
        schemas={"S": {"type": "object"}},
        tools=[
            {"name": "find", "server": "u", "originalName": "search", "defaults": {"sort": SECRET}},
            {"name": "echo", "server": "u", "inputSchema": {"$ref": "#/schemas/S"}},
        ],
    )
    return yard


async def test_status_has_the_version_the_uptime_and_the_state_of_each_server(
    secretive: Yard,
) -> None:
    async with serving(secretive.file, env={"TOKEN": SECRET}) as server:
        async with over_http(server.url, MODERN) as client:
            await client.call("echo", {})
        code, body = await get(server, "/status")
        told = json.loads(body)
        assert code == 200
        assert told["status"] == "ok"
        assert told["entries"]["tools"] == 2
        states = {one["name"]: one["state"] for one in told["servers"]}
        assert states == {"u": "up", "r": "idle"}
        assert told["servers"][0]["calls"] == 1
        assert {"version", "uptime", "revisions"} <= told.keys()
        assert SECRET not in body
        assert (await get(server, "/status", method="POST"))[0] == 405


async def test_status_needs_what_mcp_needs(secretive: Yard) -> None:
    env = {"TOKEN": SECRET, "TOOLYARD_TOKEN": "t" * 32}
    async with serving(secretive.file, env=env) as server:
        assert (await get(server, "/status"))[0] == 401
        assert (await get(server, "/status", await page_token(server)))[0] == 401
        assert (await get(server, "/status", {"Authorization": f"Bearer {'t' * 32}"}))[0] == 200
        assert await get(server, "/healthz") == (200, "ok\n")


async def test_the_registry_needs_the_token_of_the_page(secretive: Yard) -> None:
    env = {"TOKEN": SECRET, "TOOLYARD_TOKEN": "t" * 32}
    async with serving(secretive.file, env=env) as server:
        assert (await get(server, "/registry"))[0] == 401
        assert (await get(server, "/registry", {"Authorization": f"Bearer {'t' * 32}"}))[0] == 401
        assert (await get(server, "/registry", await page_token(server)))[0] == 200


async def test_the_registry_is_native_with_every_possible_secret_masked(secretive: Yard) -> None:
    async with serving(secretive.file, env={"TOKEN": SECRET}) as server:
        code, body = await get(server, "/registry", await page_token(server))
    document = json.loads(body)
    assert code == 200
    assert SECRET not in body
    assert document["servers"][0]["env"]["TOKEN"] == "${TOKEN}"
    assert document["servers"][0]["env"]["PLAIN"] == "***"
    assert document["servers"][1]["url"] == "http://***@127.0.0.1:9/mcp?key=***"
    assert [tool["name"] for tool in document["tools"]] == ["find", "echo"]
    assert document["schemas"] == {"S": {"type": "object"}}


async def test_the_registry_is_had_in_agentgateway_s_form_too(secretive: Yard) -> None:
    async with serving(secretive.file, env={"TOKEN": SECRET}) as server:
        token = await page_token(server)
        code, body = await get(server, "/registry?format=agentgateway", token)
        assert (await get(server, "/registry?format=yaml", token))[0] == 400
    source = json.loads(body)["tools"][0]["source"]
    assert code == 200
    assert source == {"target": "u", "tool": "search", "defaults": {"sort": "***"}}
    assert SECRET not in body


async def test_without_a_page_the_registry_is_for_callers_with_credentials(yard: Yard) -> None:
    yard.registry(tools=[])
    async with serving(yard.file, "--no-page") as server:
        assert (await get(server, "/registry"))[0] == 404
    async with serving(yard.file, "--no-page", env={"TOOLYARD_TOKEN": "t" * 32}) as server:
        assert (await get(server, "/registry"))[0] == 401
        assert (await get(server, "/registry", {"Authorization": f"Bearer {'t' * 32}"}))[0] == 200


@pytest.mark.parametrize("path", ["/status", "/registry", "/healthz"])
async def test_host_and_origin_are_checked_everywhere(yard: Yard, path: str) -> None:
    yard.registry(tools=[])
    async with serving(yard.file) as server:
        assert (await get(server, path, {"Host": "evil.example"}))[0] == 403
        assert (await get(server, path, {"Origin": "https://evil.example"}))[0] == 403


async def test_both_spellings_of_the_endpoint_are_the_same(yard: Yard) -> None:
    yard.registry(servers=[yard.upstream("u", ECHO)], tools=[{"name": "echo", "server": "u"}])
    async with serving(yard.file) as server:
        for url in (server.url, f"{server.url}/"):
            async with over_http(url, MODERN) as client:
                assert [one["name"] for one in (await client.result("tools/list"))["tools"]] == [
                    "echo"
                ]


async def test_the_first_line_says_that_there_is_more_to_come(yard: Yard) -> None:
    """What a server lists is not known before it has run once."""
    yard.registry(servers=[{**yard.upstream("u", ECHO), "expose": "all"}])
    async with serving(yard.file) as server:
        told = server.errors.splitlines()[0]
        assert "0 tools, 0 resources, 0 prompts, and what 1 server will list, at http" in told
        async with over_http(server.url, MODERN) as client:
            assert (await client.request("tools/list", {}))["result"]["tools"]
    async with serving(yard.file) as server:
        assert "1 tool, 0 resources, 0 prompts at http" in server.errors.splitlines()[0]
