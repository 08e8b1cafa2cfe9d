"""A hostile server behind the real program, seen from outside.

Nothing of the program is imported here: with BUILD_UNDER_TEST=CHECKOUT an older build answers.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import time
from typing import Any

import pytest

from tests.attacks.memory import MIB, processor_seconds
from tests.attacks.nested import chains
from tests.gateway.yard import Yard
from tests.peers.raw import MODERN
from tests.peers.raw_http import HttpClient, over_http
from tests.peers.serving import serving
from tests.until import until
from tests.upstreams.fake_http import Handshake, Request, fake_http, modern

pytestmark = pytest.mark.long

Json = Any
# More than a bound of a megabyte and what is on its way, far less than a memory.
MOST = 200 * MIB
ENOUGH = 40 * MIB
BOUND = {"TOOLYARD_MAX_UPSTREAM_MESSAGE_BYTES": str(MIB)}


class Endless:
    """One event whose data never ends, a line at a time, until we are no longer read."""

    def __init__(self) -> None:
        self.sent = 0
        self.ended = asyncio.Event()

    async def __call__(self, request: Request) -> None:
        request.open_events()
        line = b"data: " + b"x" * 60_000 + b"\n"
        try:
            while self.sent < MOST:
                request.raw(b"%x\r\n%b\r\n" % (len(line), line))
                await request.writer.drain()
                self.sent += len(line)
        finally:
            self.ended.set()


async def test_an_event_that_never_ends_is_given_up_in_a_call(yard: Yard) -> None:
    endless = Endless()
    async with fake_http(modern(on_call=endless)) as upstream:
        yard.registry(servers=[{"name": "u", "url": upstream.url, "expose": "all"}])
        async with (
            serving(yard.file, "--no-page", env=BOUND) as server,
            over_http(server.url, MODERN) as client,
        ):
            result = await client.call("echo", {}, within=30)
            assert "sent an event that is too long" in result["content"][0]["text"]
            assert endless.sent < ENOUGH


async def test_an_event_that_never_ends_is_given_up_outside_of_calls(yard: Yard) -> None:
    endless = Endless()
    async with fake_http(Handshake(listens=endless)) as upstream:
        yard.registry(servers=[{"name": "u", "url": upstream.url, "expose": "all"}])
        async with (
            serving(yard.file, "--no-page", env=BOUND) as server,
            over_http(server.url, "2025-06-18") as client,
        ):
            await client.call("echo", {})
            async with asyncio.timeout(30):
                await endless.ended.wait()
            assert endless.sent < ENOUGH
            assert not (await client.call("echo", {})).get("isError")


def finish(request: Request) -> None:
    """The answer to the call, as the last event."""
    answer = {"resultType": "complete", "content": []}
    request.event({"jsonrpc": "2.0", "id": request.json["id"], "result": answer})
    request.close_events()


async def test_a_flood_of_events_is_read_no_faster_than_it_may_come(yard: Yard) -> None:
    async def flood(request: Request) -> None:
        params = {"level": "error", "data": "x"}
        request.open_events()
        for _ in range(600):
            request.event({"jsonrpc": "2.0", "method": "notifications/message", "params": params})
        finish(request)

    env = {
        "TOOLYARD_MAX_UPSTREAM_MESSAGES_PER_SEC": "100",
        "TOOLYARD_MAX_CALL_MESSAGES_PER_SEC": "20",
    }
    async with fake_http(modern(on_call=flood)) as upstream:
        yard.registry(servers=[{"name": "u", "url": upstream.url, "expose": "all"}])
        async with (
            serving(yard.file, "--no-page", env=env) as server,
            over_http(server.url, "2025-06-18") as client,
        ):
            began = time.monotonic()
            await client.call("echo", {})
            took = time.monotonic() - began
            assert took >= 0.9  # a burst of 500 at once, the others at 100 a second
            heard = [one for one in client.notifications if one["method"].endswith("/message")]
            assert 100 <= len(heard) <= 20 * (took + 6)


async def test_a_retry_of_thousands_of_digits_ends_nothing(yard: Yard) -> None:
    async def odd(request: Request) -> None:
        request.open_events()
        request.event(None, retry="9" * 5000)
        finish(request)

    async with fake_http(modern(on_call=odd)) as upstream:
        yard.registry(servers=[{"name": "u", "url": upstream.url, "expose": "all"}])
        async with (
            serving(yard.file, "--no-page") as server,
            over_http(server.url, MODERN) as client,
        ):
            assert not (await client.call("echo", {})).get("isError")
            assert "Traceback" not in server.errors


async def test_retry_0_does_not_reconnect_without_a_pause(yard: Yard) -> None:
    times: list[float] = []

    async def listens(request: Request) -> None:
        times.append(time.monotonic())
        request.open_events()
        request.event(None, id=str(len(times)), retry="0")
        request.close_events()

    async with fake_http(Handshake(listens=listens)) as upstream:
        yard.registry(servers=[{"name": "u", "url": upstream.url, "expose": "all"}])
        async with (
            serving(yard.file, "--no-page") as server,
            over_http(server.url, "2025-06-18") as client,
        ):
            await client.call("echo", {})
            await until(lambda: len(times) >= 5)
    gaps = [later - sooner for sooner, later in itertools.pairwise(times)]
    assert min(gaps) >= 0.08


async def every_tool(client: HttpClient) -> list[str]:
    names: list[str] = []
    page: Json = {}
    while True:
        listed = await client.result("tools/list", page)
        names += [tool["name"] for tool in listed["tools"]]
        if "nextCursor" not in listed:
            return names
        page = {"cursor": listed["nextCursor"]}


async def test_a_list_of_twelve_thousand_is_cut_at_ten(yard: Yard) -> None:
    tools = [{"name": f"t{n:05}", "inputSchema": {"type": "object"}} for n in range(12_000)]
    yard.registry(servers=[yard.upstream("u", *tools, expose="all")])
    async with (
        serving(yard.file, "--no-page") as server,
        over_http(server.url, "2025-06-18", checked=False) as client,
    ):
        assert await every_tool(client) == [f"t{n:05}" for n in range(10_000)]


async def test_an_answer_that_is_nested_190_deep_is_read_in_one_pass(yard: Yard) -> None:
    deep = chains(180, 7 * MIB // 4)  # so much deeper within the whole answer

    async def answer(request: Request) -> None:
        result = b'{"resultType":"complete","content":[],"structuredContent":{"x":%b}}' % deep
        id = json.dumps(request.json["id"]).encode()
        request.answer(200, b'{"jsonrpc":"2.0","id":%b,"result":%b}' % (id, result))

    async with fake_http(modern(on_call=answer)) as upstream:
        yard.registry(servers=[{"name": "u", "url": upstream.url, "expose": "all"}])
        async with (
            serving(yard.file, "--no-page") as server,
            over_http(server.url, MODERN, checked=False) as client,
        ):
            await client.result("tools/list")
            before = processor_seconds(server.process.pid)
            assert "x" in (await client.call("echo", {}))["structuredContent"]
            assert processor_seconds(server.process.pid) - before < 1
