"""One server floods: memory stays, what is too much is dropped, calls of others stay fast."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.attacks import flooding
from tests.attacks.memory import MIB, peak, resident
from tests.gateway.yard import ECHO, Yard
from tests.peers.raw import MODERN
from tests.peers.raw_http import HttpClient, over_http
from tests.peers.serving import serving

pytestmark = pytest.mark.long

Json = Any
SECONDS = 1.5
PROGRAM = str(Path(flooding.__file__).resolve())


def flooded(yard: Yard) -> Path:
    command = {"command": sys.executable, "args": ["-S", PROGRAM]}
    servers = [{"name": "f", "stdio": command}, yard.upstream("v", ECHO)]
    named = [{"name": name, "server": "f"} for name in ("flood", "line")]
    return yard.registry(servers=servers, tools=[*named, {"name": "echo", "server": "v"}])


async def usual_meanwhile(client: HttpClient, hostile: asyncio.Task[Json]) -> float:
    """How long a call of another server takes, whatever a busy machine does to some of them."""
    took = []
    while not hostile.done():
        began = time.perf_counter()
        assert not (await client.call("echo", {})).get("isError")
        took.append(time.perf_counter() - began)
    return sorted(took)[len(took) // 2]


@pytest.mark.parametrize("kind", flooding.KINDS)
async def test_a_flood_from_one_server_harms_nobody(yard: Yard, kind: str) -> None:
    async with (
        serving(flooded(yard), "--no-page") as server,
        over_http(server.url, MODERN) as client,
        over_http(server.url, "2025-06-18") as victim,
    ):
        await client.call("echo", {})
        await victim.call("flood", {"kind": kind, "seconds": 0})
        before = resident(server.process.pid)
        meta = {"progressToken": "t"}
        params = {"name": "flood", "arguments": {"kind": kind, "seconds": SECONDS}, "_meta": meta}
        hostile = asyncio.create_task(victim.result("tools/call", params, within=60))
        usual = await usual_meanwhile(client, hostile)
        assert json.loads((await hostile)["content"][0]["text"])["kind"] == kind
        assert peak(server.process.pid) - before < 40 * MIB
        assert usual < 0.5
        heard = [one for one in victim.notifications if "list_changed" not in one["method"]]
        assert len(heard) < 100 * (SECONDS + 5) * 2
        if kind in ("progress", "logs"):
            assert len(heard) >= 100
            assert "dropped so far: 1" in server.errors


async def test_an_overlong_line_ends_the_call_and_its_memory_is_free_again(yard: Yard) -> None:
    env = {"TOOLYARD_MAX_UPSTREAM_MESSAGE_BYTES": str(8 * MIB)}
    async with (
        serving(flooded(yard), "--no-page", env=env) as server,
        over_http(server.url, MODERN) as client,
    ):
        await client.call("line", {"size": MIB})
        before = resident(server.process.pid)
        for _ in range(4):
            result = await client.call("line", {"size": 64 * MIB}, within=30)
            assert "sent a line that is too long" in result["content"][0]["text"]
        assert resident(server.process.pid) - before < 16 * MIB
        assert peak(server.process.pid) - before < 40 * MIB
