"""A hostile client before the real program, seen from outside.

Nothing of the program is imported here: with BUILD_UNDER_TEST=CHECKOUT an older build answers.
"""

from __future__ import annotations

import asyncio
import random
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.attacks import flooding
from tests.attacks.memory import MIB, peak, processor_seconds, resident
from tests.attacks.nested import chains
from tests.gateway.yard import ECHO, Yard
from tests.peers.http1 import fetch
from tests.peers.raw import MODERN
from tests.peers.raw_http import HttpClient, over_http
from tests.peers.serving import serving

pytestmark = pytest.mark.long

Json = Any
OLD = "2025-06-18"
ASKED = b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":%b}}'
FLOODING = {"command": sys.executable, "args": ["-S", str(Path(flooding.__file__).resolve())]}


async def test_a_megabyte_that_is_nested_190_deep_is_read_in_one_pass(yard: Yard) -> None:
    yard.script("t", "echo")
    async with serving(yard.root, "--no-page") as server, over_http(server.url, OLD) as client:
        before = processor_seconds(server.process.pid)
        posted = await client.post(ASKED % chains(190, MIB))
        assert posted.messages[0]["result"] == {}
        assert processor_seconds(server.process.pid) - before < 1


async def test_a_million_tiny_objects_are_refused_before_they_are_made(yard: Yard) -> None:
    yard.script("t", "echo")
    async with serving(yard.root, "--no-page") as server, over_http(server.url, OLD) as client:
        before = resident(server.process.pid)
        posted = await client.post(ASKED % (b"[" + b'{"":0},' * 2_000_000 + b"1]"))
        assert posted.messages[0]["error"]["code"] == -32600
        assert peak(server.process.pid) - before < 120 * MIB


async def answered_in_a_stream(client: HttpClient, size: int) -> str:
    """A call whose stream is kept: the id of its last event, which is the answer."""
    params = {"name": "speak", "arguments": {"size": size}, "_meta": {"progressToken": "t"}}
    message = client.message("tools/call", params)
    async with client.stream(message) as got:
        assert got.streams
        ids = [event.id async for event in got.events() if event.data]
    assert ids[-1]
    return str(ids[-1])


async def test_answers_kept_for_resumption_are_bounded_in_bytes(yard: Yard) -> None:
    """The last one can be resumed, and the first are forgotten."""
    yard.registry(servers=[{"name": "f", "stdio": FLOODING, "expose": "all"}])
    async with serving(yard.file, "--no-page") as server, over_http(server.url, OLD) as client:
        await answered_in_a_stream(client, 4 * MIB)
        before = resident(server.process.pid)
        ids = [await answered_in_a_stream(client, 4 * MIB) for _ in range(40)]
        assert resident(server.process.pid) - before < 64 * MIB
        for id, status in ((ids[0], 404), (ids[-1], 200)):
            last = f"{id.rpartition('.')[0]}.0"
            headers = {**client.right(None), "Accept": "text/event-stream", "Last-Event-ID": last}
            async with fetch("GET", server.url, headers) as got:
                assert got.status == status


async def test_a_client_that_reads_nothing_of_a_flood_makes_us_hold_nothing(yard: Yard) -> None:
    yard.registry(servers=[{"name": "f", "stdio": FLOODING, "expose": "all"}])
    async with serving(yard.file, "--no-page") as server, over_http(server.url, OLD) as client:
        await client.call("flood", {"kind": "logs", "seconds": 0})
        before = resident(server.process.pid)
        arguments = {"kind": "logs", "seconds": 3}
        message = client.message("tools/call", {"name": "flood", "arguments": arguments})
        async with client.stream(message) as unread:
            assert unread.streams
            await until_idle(client)
            assert peak(server.process.pid) - before < 40 * MIB


async def until_idle(client: HttpClient) -> None:
    """The flood has ended when the server answers a second call: it takes one after the other."""
    await client.call("flood", {"kind": "logs", "seconds": 0})


def unfolding(depth: int, width: int) -> Json:
    """A schema of a few kilobytes that refers to the next level `width` times on each."""
    levels: Json = {
        f"l{n}": {"allOf": [{"$ref": f"#/$defs/l{n + 1}"}] * width} for n in range(depth)
    }
    return {"$ref": "#/$defs/l0", "$defs": {**levels, f"l{depth}": {"type": "object"}}}


SCHEMAS: dict[str, tuple[Json, Json]] = {
    "a reference bomb": (unfolding(20, 10), {}),
    "a pattern": (
        {"type": "object", "properties": {"v": {"pattern": "(?:[ab]{1,90}a){1,90}c"}}},
        # Without a period: an engine finds no shorter way through it.
        {"v": "".join(random.Random(1).choices("ab", k=200_000)) + "c"},
    ),
}


@pytest.mark.parametrize("what", SCHEMAS)
@pytest.mark.parametrize("whose", ["a script", "another server"])
async def test_a_schema_that_costs_too_much_holds_nobody_up(
    yard: Yard, what: str, whose: str
) -> None:
    """Others are served meanwhile, and TERM ends the program."""
    schema, arguments = SCHEMAS[what]
    yard.script("quick", "echo")
    costly = {"name": "costly", "inputSchema": schema}
    if whose == "a script":
        yard.script("costly", "echo", inputSchema=schema)
        path = yard.root
    else:
        servers = [yard.upstream("u", costly, ECHO, expose="all")]
        path = yard.registry(servers=servers)
    other = "quick" if whose == "a script" else "echo"
    async with serving(path, "--no-page") as server, over_http(server.url, MODERN) as client:
        await client.call(other, {})
        before = processor_seconds(server.process.pid)
        params = {"name": "costly", "arguments": arguments}
        call = asyncio.create_task(client.request("tools/call", params, within=10))
        await client.call(other, {}, within=10)
        await call
        assert processor_seconds(server.process.pid) - before < 1.5
        server.process.terminate()
        async with asyncio.timeout(10):
            await server.process.wait()
