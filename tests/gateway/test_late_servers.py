"""What a server has that takes long to start is not told to be missing: whoever asks waits."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.gateway.yard import Yard
from tests.peers.raw import MODERN
from tests.peers.raw_http import over_http
from tests.peers.serving import ROOT, Listening, serving

# Starts when it is told to.
LATE = 'while [ ! -e "$0" ]; do sleep 0.02; done; exec "$@"'
THING = "test://thing"
ASKED: dict[str, tuple[str, dict[str, Any]]] = {
    "tool": ("tools/call", {"name": "echo", "arguments": {"name": "x"}}),
    "prompt": ("prompts/get", {"name": "p", "arguments": {"a": "x"}}),
    "resource": ("resources/read", {"uri": THING}),
    "completion": (
        "completion/complete",
        {"ref": {"type": "ref/prompt", "name": "p"}, "argument": {"name": "a", "value": "x"}},
    ),
}


def late(go: Path) -> dict[str, Any]:
    words = ["-c", LATE, str(go), sys.executable, "-m", "tests.peers.inmemory", "stdio"]
    command = {"command": "sh", "args": words}
    env = {"PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"}
    return {"name": "late", "stdio": command, "env": env, "expose": "all", "prefix": ""}


async def asked(server: Listening, what: str) -> Any:
    method, params = ASKED[what]
    async with over_http(server.url, MODERN, checked=False) as client:
        return await client.result(method, params, within=60)


@pytest.mark.timeout(120)
async def test_who_asks_for_what_a_starting_server_has_waits_for_it(yard: Yard) -> None:
    go = yard.root / "go"
    yard.registry(servers=[late(go), yard.upstream("early", {"name": "t", "inputSchema": {}})])
    async with serving(yard.file, "--no-page") as server, over_http(server.url, MODERN) as client:
        listed = await client.result("tools/list", within=30)
        assert "echo" not in {tool["name"] for tool in listed["tools"]}
        asking = [asyncio.create_task(asked(server, what)) for what in ASKED]
        unknown = asyncio.create_task(client.error("tools/call", {"name": "nothing"}))
        await client.result("tools/list")
        go.touch()
        tool, prompt, resource, completion = await asyncio.gather(*asking)
        assert tool["content"][0]["text"] == "x"
        assert prompt["messages"]
        assert resource["contents"][0]["uri"] == THING
        assert "values" in completion["completion"]
        assert "not found" in (await unknown)["message"]
        listed = await client.result("tools/list")
        assert "echo" in {tool["name"] for tool in listed["tools"]}


async def test_where_every_server_has_listed_an_unknown_tool_is_told_at_once(yard: Yard) -> None:
    broken = {"name": "broken", "stdio": {"command": "/no/such/program"}, "expose": "all"}
    yard.registry(servers=[yard.upstream("u", {"name": "t", "inputSchema": {}}), broken])
    async with serving(yard.file, "--no-page") as server, over_http(server.url, MODERN) as client:
        error = await client.error("tools/call", {"name": "nothing"}, within=10)
        assert "not found" in error["message"]
