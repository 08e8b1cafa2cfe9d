"""What a tool's default holds is not told by the server that fails with it."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

import pytest

from tests.gateway.test_endpoints import get, page_token
from tests.gateway.yard import Yard
from tests.peers.raw import MODERN
from tests.peers.raw_http import over_http
from tests.peers.serving import serving

SECRET = "s3cr3t-of-a-default"
QUOTED = 's3cr3t "in quotes" of a default'
# Answers every call by failing, and repeats what it was called with.
FAILING = """
import json, sys
how = sys.argv[1]
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    answer = {"jsonrpc": "2.0", "id": asked["id"]}
    given = json.dumps(asked["params"].get("arguments", {}))
    if asked["method"] == "initialize":
        version = asked["params"]["protocolVersion"]
        info = {"name": "failing", "version": "1"}
        answer["result"] = {
            "protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info
        }
    elif asked["method"] == "tools/list":
        answer["result"] = {"tools": [{"name": "fail", "inputSchema": {"type": "object"}}]}
    elif asked["method"] != "tools/call":
        answer["error"] = {"code": -32601, "message": "not known here"}
    elif how == "crash":
        sys.stderr.write(f"called with {given}\\n")
        sys.exit(3)
    elif how == "error":
        answer["error"] = {"code": -32000, "message": f"refused {given}", "data": {"got": [given]}}
    else:
        answer["result"] = {"content": [{"type": "text", "text": given}], "isError": True}
    print(json.dumps(answer), flush=True)
"""


def servers(*ways: str) -> list[dict[str, Any]]:
    return [
        {"name": how, "stdio": {"command": sys.executable, "args": ["-S", "-c", FAILING, how]}}
        for how in ways
    ]


def tool(how: str, value: str) -> dict[str, Any]:
    defaults = {"key": value}
    return {"name": f"{how}_it", "server": how, "originalName": "fail", "defaults": defaults}


@pytest.mark.parametrize("how", ["crash", "error", "result"])
async def test_a_default_is_masked_in_whatever_a_failing_server_says(yard: Yard, how: str) -> None:
    yard.registry(servers=servers(how), tools=[tool(how, "${KEY}")])
    async with serving(yard.file, "--log-level", "debug", env={"KEY": SECRET}) as server:
        async with over_http(server.url, MODERN, checked=False) as client:
            params = {"name": f"{how}_it", "arguments": {}}
            called = json.dumps(await client.request("tools/call", params))
        token = await page_token(server)
        paths = ("/status", "/api/overview", "/api/traffic", "/api/traffic/1")
        shown = [(await get(server, path, token))[1] for path in paths]
    said = [called, *shown, *server.stderr]
    assert [text for text in said if SECRET in text] == []
    assert any("***" in text for text in said)


async def test_a_default_is_masked_as_text_and_as_json(yard: Yard) -> None:
    yard.registry(servers=servers("error"), tools=[tool("error", "${KEY}")])
    async with (
        serving(yard.file, env={"KEY": QUOTED}) as server,
        over_http(server.url, MODERN, checked=False) as client,
    ):
        called = await client.request("tools/call", {"name": "error_it", "arguments": {}})
        assert called["error"]["message"] == 'refused {"key": "***"}'


async def test_a_default_that_an_edit_brings_is_masked_as_well(yard: Yard) -> None:
    yard.registry(servers=servers("error"), tools=[tool("error", "plain")])
    async with (
        serving(yard.file, env={"KEY": SECRET}) as server,
        over_http(server.url, MODERN, checked=False) as client,
    ):
        params = {"name": "error_it", "arguments": {}}
        assert "plain" in json.dumps(await client.request("tools/call", params))
        yard.registry(servers=servers("error"), tools=[tool("error", "${KEY}")])
        async with asyncio.timeout(20):
            await server.says("registry loaded anew")
            while "***" not in json.dumps(called := await client.request("tools/call", params)):
                assert SECRET not in json.dumps(called)
