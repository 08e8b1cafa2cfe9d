"""Upstreams that are child processes, in both eras."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from tests.upstreams.conftest import MakePool
from tests.upstreams.seam import (
    EVERYTHING,
    ClientSession,
    RecordingChannel,
    always,
    call_tool,
    fake,
    methods_sent,
    modern_call,
    sent,
    session_call,
)
from toolyard.errors import ProtocolError
from toolyard.protocol.call import JsonObject
from toolyard.upstreams.lists.disk import RecordFolder

PREFIX = "io.modelcontextprotocol/"


async def test_a_modern_upstream_gets_the_envelope_of_this_hop(make_pool: MakePool) -> None:
    pool = make_pool(fake(discover="answer"))
    call = modern_call(
        {"elicitation": {}, "tasks": {}, "extensions": {"a/b": {}, f"{PREFIX}tasks": {}}},
        meta={"traceparent": "00-1", "progressToken": "mine", f"{PREFIX}serverInfo": {}},
        log_level="debug",
    )
    result = await call_tool(pool, "echo", {"a": 1}, call=call)
    meta = result["structuredContent"].pop("_meta")
    assert isinstance(meta.pop("progressToken"), int)
    assert meta.pop(f"{PREFIX}clientInfo")["name"] == "toolyard"
    assert meta == {
        "traceparent": "00-1",
        f"{PREFIX}protocolVersion": "2026-07-28",
        f"{PREFIX}clientCapabilities": {
            "elicitation": {},
            # A handle can be passed on to this client.
            "extensions": {"a/b": {}, f"{PREFIX}tasks": {}},
        },
        f"{PREFIX}logLevel": "debug",
    }
    assert result["structuredContent"] == {"name": "echo", "arguments": {"a": 1}}


async def test_a_handshake_era_upstream_is_greeted_and_gets_no_envelope(
    make_pool: MakePool, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    pool = make_pool(fake(log=str(log)))
    result = await call_tool(pool, "echo", {"a": 1}, call=modern_call(meta={"vendor/x": 2}))
    assert result["structuredContent"] == {
        "name": "echo",
        "arguments": {"a": 1},
        "_meta": {"vendor/x": 2},
    }
    assert methods_sent(log) == [
        "server/discover",
        "initialize",
        "notifications/initialized",
        "tools/call",
    ]
    assert sent(log)[1]["params"]["capabilities"] == {}


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
async def test_every_handshake_revision_that_the_upstream_answers_with_is_spoken(
    make_pool: MakePool, version: str
) -> None:
    pool = make_pool(fake(version=version))
    assert (await pool.listing("fake")).revision == version
    assert pool.health()[0].revision == version


async def test_an_upstream_of_an_unknown_revision_is_an_error_that_names_it(
    make_pool: MakePool,
) -> None:
    pool = make_pool(fake(version="1999-01-01"))
    assert "1999-01-01" in str((await pool.listing("fake")).error)


async def test_an_upstream_that_names_its_revisions_is_greeted_in_one_of_them(
    make_pool: MakePool, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    named = ["2024-11-05", "2025-03-26", "2031-01-01"]
    pool = make_pool(fake(discover="unsupported", supported=named, log=str(log)))
    await call_tool(pool, "echo")
    assert sent(log)[1]["params"]["protocolVersion"] == "2025-03-26"


async def test_an_upstream_that_names_only_unknown_revisions_is_not_greeted(
    make_pool: MakePool, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    pool = make_pool(fake(discover="unsupported", supported=["2031-01-01"], log=str(log)))
    assert "only 2031-01-01" in str((await pool.listing("fake")).error)
    assert "initialize" not in methods_sent(log)


async def test_an_upstream_that_ignores_discover_is_greeted_as_well(
    make_pool: MakePool, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    pool = make_pool(fake(discover="silent", log=str(log)))
    await call_tool(pool, "echo")
    assert methods_sent(log)[:2] == ["server/discover", "initialize"]
    assert pool.health()[0].revision == "2025-11-25"


async def test_a_slow_modern_upstream_is_still_found_to_be_modern(make_pool: MakePool) -> None:
    pool = make_pool(fake(discover="answer", slow=0.6))
    await call_tool(pool, "echo")
    assert pool.health()[0].revision == "2026-07-28"


async def test_an_upstream_that_exits_on_discover_is_started_again_and_initialized(
    make_pool: MakePool, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    pool = make_pool(fake(discover="exit", log=str(log)))
    await call_tool(pool, "echo")
    assert methods_sent(log)[:3] == ["server/discover", "initialize", "notifications/initialized"]


async def test_what_a_result_carries_passes_untouched(make_pool: MakePool) -> None:
    pool = make_pool(fake())
    answer: JsonObject = {
        "content": [{"type": "hologram", "depth": 3, "_meta": {"a": None}}],
        "structuredContent": {"big": 2**80, "small": 1e-9, "text": "\u2028é"},
        "vendor": {"x": [True, None]},
        "_meta": {"vendor.example/k": 1},
        "isError": True,
    }
    assert await call_tool(pool, "give", answer) == answer


async def test_an_upstreams_error_passes_with_code_message_and_data(make_pool: MakePool) -> None:
    pool = make_pool(fake())
    error = {"code": -32042, "message": "no", "data": {"why": [1]}}
    with pytest.raises(ProtocolError) as raised:
        await call_tool(pool, "raise", error)
    assert (raised.value.code, raised.value.message, raised.value.data) == tuple(error.values())


async def test_calls_with_the_same_progress_token_get_their_own_progress(
    make_pool: MakePool,
) -> None:
    pool = make_pool(fake())
    channels = [RecordingChannel() for _ in range(3)]
    call = modern_call(meta={"progressToken": 7})
    await asyncio.gather(
        *(
            call_tool(pool, "progress", {"steps": steps}, call=call, channel=channel)
            for steps, channel in enumerate(channels)
        )
    )
    for steps, channel in enumerate(channels):
        assert channel.progressed == [(step, None, f"step {step}") for step in range(steps)]


async def test_a_log_message_goes_to_the_call_it_belongs_to(
    make_pool: MakePool, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    pool = make_pool(fake(capabilities={"tools": {}, "logging": {}}, log=str(log)))
    channel = RecordingChannel()
    await call_tool(pool, "log", {"n": 1}, channel=channel, call=modern_call(log_level="info"))
    assert channel.logged == [("info", {"n": 1}, "fake")]
    assert sent(log)[3]["params"] == {"level": "info"}


async def test_a_question_of_a_handshake_era_upstream_reaches_the_client_of_the_call(
    make_pool: MakePool, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    pool = make_pool(fake(log=str(log)))
    channel = RecordingChannel(always({"action": "accept", "content": {"n": 1}}))
    question = {"method": "elicitation/create", "params": {"message": "?", "vendor": 1}}
    result = await call_tool(
        pool, "ask", question, call=modern_call({"elicitation": {}}), channel=channel
    )
    assert channel.asked == [question]
    assert result["structuredContent"]["result"] == {"action": "accept", "content": {"n": 1}}
    assert result["structuredContent"]["id"] == "q1"


async def test_connections_that_announce_questions_belong_to_one_client_session(
    make_pool: MakePool, tmp_path: Path
) -> None:
    pool = make_pool(fake())
    file = {"file": str(tmp_path / "count")}

    async def pid(key: ClientSession | None) -> int:
        call = session_call(EVERYTHING if key else {})
        channel = RecordingChannel(session=key)
        result = await call_tool(pool, "count", file, call=call, channel=channel)
        return int(result["structuredContent"]["pid"])

    ann, bob = ClientSession("ann"), ClientSession("bob")
    pids = [await pid(one) for one in (ann, bob, ann, bob, None, None)]
    assert pids[0] == pids[2] != pids[1] == pids[3]
    assert pids[4] == pids[5] not in pids[:2]
    assert pool.health()[0].connections == 3
    ann.close()
    assert pool.health()[0].connections == 2


async def test_a_modern_upstream_is_shared_by_all(make_pool: MakePool, tmp_path: Path) -> None:
    pool = make_pool(fake(discover="answer", initialize="refuse"))
    file = {"file": str(tmp_path / "count")}
    pids = set()
    for session in (ClientSession("ann"), ClientSession("bob"), None):
        call = session_call(EVERYTHING) if session else modern_call(EVERYTHING)
        channel = RecordingChannel(session=session)
        result = await call_tool(pool, "count", file, call=call, channel=channel)
        pids.add(result["structuredContent"]["pid"])
    # Who comes first in the other era finds out that there is none, on a connection of its own.
    assert len(pids) == 1
    assert pool.health()[0].connections == 1


async def test_modern_clients_with_questions_share_a_connection_only_one_after_the_other(
    make_pool: MakePool,
) -> None:
    pool = make_pool(fake())
    release = asyncio.Event()

    async def answer(question: JsonObject) -> JsonObject:
        await release.wait()
        return {"roots": [{"uri": question["params"]["tag"]}]}

    def ask(tag: str, channel: RecordingChannel) -> asyncio.Task[JsonObject]:
        question = {"method": "roots/list", "params": {"tag": tag}}
        call = modern_call({"roots": {}})
        return asyncio.create_task(call_tool(pool, "ask", question, call=call, channel=channel))

    channels = [RecordingChannel(answer) for _ in range(3)]
    calls = [ask(f"file:///{n}", channel) for n, channel in enumerate(channels)]
    for channel in channels:
        await channel.question.wait()
    release.set()
    results = await asyncio.gather(*calls)
    roots = [result["structuredContent"]["result"]["roots"][0]["uri"] for result in results]
    assert roots == ["file:///0", "file:///1", "file:///2"]
    assert pool.health()[0].connections == 4
    await ask("file:///3", RecordingChannel(answer))
    assert pool.health()[0].connections == 4


async def test_a_shared_connection_refuses_questions(make_pool: MakePool) -> None:
    pool = make_pool(fake())
    result = await call_tool(pool, "ask", {"method": "roots/list", "params": {}})
    assert result["structuredContent"]["error"]["code"] == -32601


async def test_a_ping_of_the_upstream_is_answered(make_pool: MakePool) -> None:
    pool = make_pool(fake())
    result = await call_tool(pool, "ask", {"method": "ping", "params": {}})
    assert result["structuredContent"] == {"jsonrpc": "2.0", "id": "q1", "result": {}}


@pytest.mark.parametrize("discover", ["answer", "error"])
async def test_a_cancelled_call_is_cancelled_at_the_upstream(
    make_pool: MakePool, tmp_path: Path, discover: str
) -> None:
    log = tmp_path / "log"
    pool = make_pool(fake(discover=discover, log=str(log)))
    channel = RecordingChannel()
    task = asyncio.create_task(call_tool(pool, "stall", channel=channel))
    await channel.arrived.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await pool.close()
    request = next(m for m in sent(log) if m["method"] == "tools/call")
    cancel = next(m for m in sent(log) if m["method"] == "notifications/cancelled")
    assert cancel["params"]["requestId"] == request["id"]


async def test_rounds_of_a_modern_upstream_pass_both_ways(make_pool: MakePool) -> None:
    pool = make_pool(fake(discover="answer"))
    asked: JsonObject = {
        "resultType": "input_required",
        "inputRequests": {"q": {"method": "elicitation/create", "params": {"message": "?"}}},
        "requestState": "abc",
    }
    assert await call_tool(pool, "give", asked) == asked
    retry = modern_call(input_responses={"q": {"action": "accept"}}, request_state="abc")
    result = await call_tool(pool, "echo", call=retry)
    assert result["structuredContent"]["inputResponses"] == {"q": {"action": "accept"}}
    assert result["structuredContent"]["requestState"] == "abc"


async def test_an_unknown_kind_of_result_is_refused(make_pool: MakePool) -> None:
    pool = make_pool(fake(discover="answer"))
    with pytest.raises(Exception, match="unknown kind of result"):
        await call_tool(pool, "give", {"resultType": "poem"})


async def test_all_pages_of_a_list_are_fetched_and_kept_on_disk(
    make_pool: MakePool, tmp_path: Path
) -> None:
    tools = [{"name": f"t{n}", "inputSchema": {"type": "object"}, "x-new": n} for n in range(25)]
    definition = fake(tools=tools, page=10)
    records = RecordFolder(tmp_path / "records")
    pool = make_pool(definition, listing_cache=records)
    assert pool.known_listing("fake") is None
    listing = await pool.listing("fake")
    assert list(listing.tools) == tools
    assert listing.error is None
    later = make_pool(definition, listing_cache=records)
    known = later.known_listing("fake")
    assert known is not None
    assert list(known.tools) == tools
    assert later.health()[0].state == "idle"


async def test_a_changed_list_is_announced_and_fetched_again(make_pool: MakePool) -> None:
    pool = make_pool(fake())
    changed: asyncio.Queue[str] = asyncio.Queue()
    pool.on_change(changed.put_nowait)
    before = await pool.listing("fake")
    await call_tool(pool, "grow", {"name": "new"})
    assert await changed.get() == "fake"
    after = await pool.listing("fake")
    assert len(after.tools) == len(before.tools) + 1


async def test_a_listen_that_the_upstream_ends_is_begun_again(
    make_pool: MakePool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toolyard.upstreams.lists.watch.FIRST_WAIT", 0.05)
    log = tmp_path / "log"
    capabilities = {"tools": {"listChanged": True}}
    pool = make_pool(fake(discover="answer", ends=True, capabilities=capabilities, log=str(log)))
    changed = asyncio.Event()
    pool.on_change(lambda _: changed.set())
    await pool.listing("fake")
    async with asyncio.timeout(10):
        await changed.wait()
    for _ in range(2):  # what was sent before the second one has arrived by its answer
        await call_tool(pool, "echo")
    assert methods_sent(log).count("subscriptions/listen") == 2


async def test_names_with_the_same_definition_share_one_process(
    make_pool: MakePool, tmp_path: Path
) -> None:
    pool = make_pool(fake("one"), fake("two"))
    file = {"file": str(tmp_path / "count")}
    results = [await call_tool(pool, "count", file, server=name) for name in ("one", "two")]
    assert results[0] == results[1]


async def test_a_child_sees_a_minimal_environment(
    make_pool: MakePool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "no")
    monkeypatch.setenv("LC_TIME", "C.UTF-8")
    pool = make_pool(replace(fake(), env={"TOKEN": "t"}))
    environment = (await call_tool(pool, "environment"))["structuredContent"]
    assert environment["TOKEN"] == "t"
    assert environment["LC_TIME"] == "C.UTF-8"
    assert "AWS_SECRET_ACCESS_KEY" not in environment


async def test_a_result_of_many_megabytes_passes(make_pool: MakePool) -> None:
    pool = make_pool(fake())
    size = 40 * 1024 * 1024
    result = await call_tool(pool, "big", {"size": size})
    assert len(result["content"][0]["text"]) == size
