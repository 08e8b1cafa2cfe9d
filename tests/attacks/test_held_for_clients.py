"""What a client can make the server hold: batches, streams to resume, news that nobody reads."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.gateway.yard import Yard
from tests.peers.http1 import fetch
from tests.peers.raw import over_stdio
from tests.peers.raw_http import over_http
from tests.peers.serving import serving, toolyard
from toolyard.transports.bounds import Bounds
from toolyard.transports.endpoint.outbox import MAX_UNREAD, Outbox, parse_event_id
from toolyard.transports.endpoint.replay import Ledger, Replay

Json = Any
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


def news(size: int = 1000) -> bytes:
    return b'{"jsonrpc":"2.0","method":"notifications/message","x":"' + b"x" * size + b'"}'


async def test_a_batch_of_a_million_is_refused_whole_over_http(yard: Yard) -> None:
    yard.script("t", "echo")
    async with serving(yard.root, "--no-page") as server, over_http(server.url, "2025-03-26") as c:
        posted = await c.post(b"[" + b",".join([b"1"] * 1_000_000) + b"]")
        assert posted.status == 400
        assert posted.messages[0]["error"]["data"] == "a batch may have 100 messages"
        assert len(posted.body) < 1000
        assert (await c.post([{**PING, "id": n} for n in range(100)])).status == 200


@pytest.mark.parametrize("most", [2, 500])
async def test_how_long_a_batch_may_be_is_a_setting(yard: Yard, most: int) -> None:
    yard.script("t", "echo")
    env = {"TOOLYARD_MAX_BATCH": str(most)}
    async with over_stdio(toolyard("serve", yard.root), "2025-03-26", env=env) as client:
        for length in (most, most + 1):
            batch = [{**PING, "id": f"{length}-{n}"} for n in range(length)]
            await client.send_line(json.dumps(batch).encode())
        while not any(line.startswith(b"[") for line in client.lines):
            await client.result("ping")
        [answers] = [json.loads(line) for line in client.lines if line.startswith(b"[")]
        assert len(answers) == most
        [refused] = [one for one in client.heard if isinstance(one, dict) and "error" in one]
        assert refused["error"]["data"] == f"a batch may have {most} messages"


def stream(replay: Replay, name: str, *messages: bytes) -> Outbox:
    outbox = Outbox(name)
    replay.keep(outbox)
    for message in messages:
        outbox.put(message)
    outbox.close()
    return outbox


def test_what_a_session_may_resume_is_bounded_in_bytes_and_the_oldest_goes_first() -> None:
    ledger = Ledger(Bounds(replay_session=10_000, replay_all=10**9))
    replay = Replay(ledger)
    for number in range(30):
        stream(replay, f"r{number}", b"x" * 1000)
    kept = [n for n in range(30) if replay.find(f"r{n}") is not None]
    assert kept == list(range(20, 30))
    assert ledger.size == 10_000
    stream(replay, "large", b"x" * 50_000)
    assert replay.find("large") is not None
    assert ledger.size == 50_000
    replay.close()
    assert ledger.size == 0


def test_what_all_sessions_may_resume_is_bounded_in_bytes() -> None:
    ledger = Ledger(Bounds(replay_session=10_000, replay_all=25_000))
    sessions = [Replay(ledger) for _ in range(10)]
    for round in range(3):
        for replay in sessions:
            stream(replay, f"r{round}", b"x" * 2000)
    assert ledger.size <= 25_000
    assert sessions[0].find("r0") is None
    assert sessions[9].find("r2") is not None


async def test_a_stream_that_goes_on_for_ever_keeps_what_fits() -> None:
    ledger = Ledger(Bounds(replay_session=10_000))
    outbox = Outbox("r1")
    Replay(ledger).keep(outbox)
    following = outbox.follow()
    for _ in range(200):
        outbox.put(news())
        await anext(following)
    assert outbox.size == ledger.size <= 12_000


async def test_news_that_nobody_reads_is_dropped_and_counted_and_the_answer_is_not() -> None:
    outbox = Outbox()
    for _ in range(5000):
        outbox.put(news())
    assert outbox.size < MAX_UNREAD + 2000
    assert outbox.unsaid > 3000
    outbox.put(b'{"jsonrpc":"2.0","id":1,"result":{}}')
    outbox.close()
    read = [item async for item in outbox.follow()]
    assert read[-1] is not None
    assert b"result" in read[-1][1]
    outbox.put(news())
    assert outbox.unsaid == 5000 - (len(read) - 1)  # room again: this one is kept


@pytest.mark.parametrize("id", ["r1." + "9" * 5000, "r1.\u0665", "g." + "9" * 400, ".", "g.-1"])
async def test_an_odd_last_event_id_is_not_found(yard: Yard, id: str) -> None:
    assert parse_event_id(id) is None
    yard.script("t", "echo")
    async with serving(yard.root, "--no-page") as server, over_http(server.url, "2025-06-18") as c:
        headers = {**c.right(None), "Accept": "text/event-stream", "Last-Event-ID": id}
        headers["Last-Event-ID"] = id.encode().decode("latin-1")
        async with fetch("GET", server.url, headers) as got:
            assert got.status == 404
        assert "Traceback" not in server.errors
