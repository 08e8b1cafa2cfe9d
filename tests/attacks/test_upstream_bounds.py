"""What another server may make us hold: events, lists, values, how soon it is asked again."""

from __future__ import annotations

import asyncio
import itertools
import time
from dataclasses import replace
from typing import Any

import pytest

from tests.until import until
from tests.upstreams.conftest import MakePool
from tests.upstreams.conftest import make_pool as make_pool
from tests.upstreams.conftest import no_process_is_left as no_process_is_left
from tests.upstreams.fake_http import FakeHttp, Handshake, Request, fake_http, modern
from tests.upstreams.seam import QUICK, RecordingChannel, call_tool, fake
from toolyard.errors import ProtocolError, UpstreamError
from toolyard.files.lines import Lines, TooLong
from toolyard.http.events import EventParser, ServerSentEvent
from toolyard.processes.pacing import BURST, Pace
from toolyard.protocol.codec import MAX_CONTAINERS, loads
from toolyard.upstreams.definition import ServerDefinition
from toolyard.upstreams.link.http import LEAST_RETRY, MOST_RETRY, Resumption

MIB = 1 << 20
SMALL = replace(QUICK, message=MIB)


def at(server: FakeHttp) -> ServerDefinition:
    return ServerDefinition(name="fake", url=server.url)


async def endless(request: Request) -> None:
    """One event whose data never ends, a line at a time."""
    request.open_events()
    line = b"data: " + b"x" * 1000 + b"\n"
    for _ in range(20_000):
        request.raw(b"%x\r\n%b\r\n" % (len(line), line))
        await request.writer.drain()
    request.close_events()


async def test_an_event_that_never_ends_is_given_up_in_a_call(make_pool: MakePool) -> None:
    async with fake_http(modern(on_call=endless)) as server:
        pool = make_pool(at(server), limits=SMALL)
        with pytest.raises(UpstreamError, match="sent an event that is too long"):
            await call_tool(pool, "echo")
        await pool.close()


async def test_an_event_that_never_ends_is_given_up_outside_of_calls(make_pool: MakePool) -> None:
    ended = asyncio.Event()

    async def listens(request: Request) -> None:
        try:
            await endless(request)
        finally:
            ended.set()

    async with fake_http(Handshake(listens=listens)) as server:
        pool = make_pool(at(server), limits=SMALL)
        await call_tool(pool, "echo")
        async with asyncio.timeout(10):
            await ended.wait()
        await call_tool(pool, "echo")
        await pool.close()


async def test_a_flood_of_events_is_read_no_faster_than_it_may_come(make_pool: MakePool) -> None:
    log = {
        "jsonrpc": "2.0",
        "method": "notifications/message",
        "params": {"level": "error", "data": "x"},
    }

    async def flood(request: Request) -> None:
        request.open_events()
        for _ in range(600):
            request.event(log)
        answer = {"resultType": "complete", "content": []}
        request.event({"jsonrpc": "2.0", "id": request.json["id"], "result": answer})
        request.close_events()

    limits = replace(QUICK, unrequested_rate=100.0, message_rate=20.0)
    async with fake_http(modern(on_call=flood)) as server:
        pool = make_pool(at(server), limits=limits)
        channel = RecordingChannel()
        began = time.monotonic()
        await call_tool(pool, "echo", channel=channel)
        took = time.monotonic() - began
        await pool.close()
    assert took >= 0.9  # 500 at once, the others at 100 a second
    assert 100 <= len(channel.logged) <= 20 * (BURST + took + 1)


def test_an_event_may_be_as_long_as_a_message_in_all_its_lines() -> None:
    parser = EventParser(max_size=100)
    assert parser.feed(b"data: " + b"x" * 90 + b"\n\n") == [ServerSentEvent("message", b"x" * 90)]
    with pytest.raises(TooLong):
        parser.feed(b"data: 123456789\n" * 11)
    assert parser.feed(b"data: a\n\n") == [ServerSentEvent("message", b"a")]


@pytest.mark.parametrize("digits", [0, 1, 18, 400, 5000])
def test_any_retry_is_taken_and_none_hurries_or_ends_us(digits: int) -> None:
    parser = EventParser(max_size=10_000)
    [event] = parser.feed(b"id: 1\nretry: " + b"9" * digits + b"\n\n")
    resumption = Resumption()
    resumption.note(event)
    assert LEAST_RETRY <= resumption.retry <= MOST_RETRY
    resumption.note(ServerSentEvent("message", b"", None, 0.0))
    assert resumption.retry == LEAST_RETRY


def test_an_id_that_no_header_could_carry_is_not_sent_back() -> None:
    [event] = EventParser(max_size=MIB).feed(b"id: " + b"x" * 5000 + b"\ndata: a\n\n")
    assert event.id is None


async def test_retry_0_does_not_reconnect_without_a_pause(make_pool: MakePool) -> None:
    times: list[float] = []

    async def listens(request: Request) -> None:
        times.append(time.monotonic())
        request.open_events()
        request.event(None, id=str(len(times)), retry="0")
        request.close_events()
        request.cut() if len(times) > 100 else None

    async with fake_http(Handshake(listens=listens)) as server:
        pool = make_pool(at(server))
        await call_tool(pool, "echo")
        await until(lambda: len(times) >= 4)
        await pool.close()
    gaps = [later - sooner for sooner, later in itertools.pairwise(times)]
    assert min(gaps) >= LEAST_RETRY * 0.9


async def test_a_list_of_a_hundred_thousand_is_cut(make_pool: MakePool) -> None:
    tools = [{"name": f"t{n}", "inputSchema": {}} for n in range(3000)]
    pool = make_pool(fake(tools=tools, page=500), limits=replace(QUICK, entries=1200))
    listing = await pool.listing("fake")
    assert [tool["name"] for tool in listing.tools] == [f"t{n}" for n in range(1200)]
    assert listing.error is None


def test_an_overlong_line_is_freed_at_once() -> None:
    lines = Lines(lambda line: None, max_size=1000)
    with pytest.raises(TooLong):
        lines.feed(b"x" * 5000)
    assert not lines._buffer


def test_a_message_of_millions_of_tiny_objects_is_refused_before_it_is_made() -> None:
    data = b"[" + b'{"":0},' * (MAX_CONTAINERS + 1) + b"1]"
    with pytest.raises(ProtocolError, match="1,000,000 objects"):
        loads(data)
    text: Any = loads(b'["' + b"{" * (2 * MAX_CONTAINERS) + b'"]')
    assert len(text[0]) == 2 * MAX_CONTAINERS


def test_a_pace_lets_a_burst_pass_then_its_rate() -> None:
    now = 0.0
    pace = Pace(10, clock=lambda: now)
    assert sum(pace.admits() for _ in range(1000)) == 10 * BURST
    assert pace.dropped == 1000 - 10 * BURST
    now = 1.0
    assert sum(pace.admits() for _ in range(1000)) == 10
    assert pace.take(5) == pytest.approx(0.5)
    now = 1000.0
    assert pace.take(5) == 0.0
