"""Streamable HTTP to upstreams, byte by byte, in both eras."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from tests.peers.ports import free_port
from tests.until import WITHIN
from tests.upstreams.conftest import MakePool
from tests.upstreams.fake_http import (
    FakeHttp,
    Handshake,
    JsonObject,
    Request,
    fake_http,
    modern,
)
from tests.upstreams.seam import QUICK, RecordingChannel, call_tool, modern_call
from toolyard.errors import ProtocolError, UpstreamError
from toolyard.upstreams.definition import ServerDefinition


def at(server: FakeHttp, **more: object) -> ServerDefinition:
    return ServerDefinition(name="fake", url=server.url, **more)  # type: ignore[arg-type]


async def test_a_modern_call_carries_the_headers_that_its_body_repeats(make_pool: MakePool) -> None:
    schema: JsonObject = {
        "type": "object",
        "properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "deep": {"properties": {"n": {"type": "integer", "x-mcp-header": "N"}}},
            "yes": {"type": "boolean", "x-mcp-header": "Yes"},
            "gone": {"type": "string", "x-mcp-header": "Gone"},
        },
    }
    tools = [{"name": "größe", "inputSchema": schema}]
    async with fake_http(modern(tools=tools)) as server:
        pool = make_pool(at(server, headers={"X-Key": "k"}))
        arguments = {"region": " us", "deep": {"n": 42}, "yes": True, "gone": None}
        await call_tool(pool, "größe", arguments)
        headers = server.calls()[0].headers
        await pool.close()
    assert {k: v for k, v in headers.items() if k.startswith(("mcp-", "x-"))} == {
        "x-key": "k",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "tools/call",
        "mcp-name": "=?base64?Z3LDtsOfZQ==?=",
        "mcp-param-region": "=?base64?IHVz?=",
        "mcp-param-n": "42",
        "mcp-param-yes": "true",
    }
    assert headers["accept"] == "application/json, text/event-stream"
    assert "accept-encoding" not in headers


async def test_tools_with_invalid_header_annotations_are_left_out(make_pool: MakePool) -> None:
    bad: JsonObject = {"properties": {"a": {"type": "number", "x-mcp-header": "A"}}}
    tools = [{"name": "bad", "inputSchema": bad}, {"name": "good", "inputSchema": {}}]
    async with fake_http(modern(tools=tools)) as server:
        pool = make_pool(at(server))
        assert [tool["name"] for tool in (await pool.listing("fake")).tools] == ["good"]
        await pool.close()


async def test_a_header_mismatch_makes_us_list_again_and_retry_once(make_pool: MakePool) -> None:
    tools: list[JsonObject] = [{"name": "t", "inputSchema": {}}]

    async def on_call(request: Request) -> None:
        if request.headers.get("mcp-param-a") == "1":
            request.result({"resultType": "complete", "content": []})
            return
        annotated = {"properties": {"a": {"type": "integer", "x-mcp-header": "A"}}}
        tools[0] = {"name": "t", "inputSchema": annotated}
        request.error(400, -32020, "Header mismatch: Mcp-Param-A is missing")

    async with fake_http(modern(on_call, tools)) as server:
        pool = make_pool(at(server))
        result = await call_tool(pool, "t", {"a": 1})
        assert result == {"resultType": "complete", "content": []}
        with pytest.raises(ProtocolError):
            await call_tool(pool, "t", {"a": 2})
        assert len(server.calls()) == 4
        await pool.close()


async def test_a_modern_error_in_an_http_error_passes(make_pool: MakePool) -> None:
    async def on_call(request: Request) -> None:
        request.error(400, -32602, "Unknown tool", {"name": "x"})

    async with fake_http(modern(on_call)) as server:
        pool = make_pool(at(server))
        with pytest.raises(ProtocolError) as raised:
            await call_tool(pool, "x")
        await pool.close()
    error = raised.value
    assert (error.code, error.message, error.data) == (-32602, "Unknown tool", {"name": "x"})


async def test_a_cancelled_modern_call_closes_its_stream(make_pool: MakePool) -> None:
    started, gone = asyncio.Event(), asyncio.Event()

    async def on_call(request: Request) -> None:
        request.open_events()
        started.set()
        await request.gone()
        gone.set()

    async with fake_http(modern(on_call)) as server:
        pool = make_pool(at(server))
        task = asyncio.create_task(call_tool(pool, "echo"))
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        async with asyncio.timeout(WITHIN):
            await gone.wait()
        assert "notifications/cancelled" not in server.rpcs()
        await pool.close()


async def test_a_cancelled_call_of_the_handshake_era_is_said_to_be(make_pool: MakePool) -> None:
    started, cancelled = asyncio.Event(), asyncio.Event()

    async def on_call(request: Request) -> None:
        request.open_events()
        started.set()
        await request.gone()

    handshake = Handshake(on_call)

    async def handle(request: Request) -> None:
        if request.rpc == "notifications/cancelled":
            cancelled.set()
        await handshake(request)

    async with fake_http(handle) as server:
        pool = make_pool(at(server))
        task = asyncio.create_task(call_tool(pool, "echo"))
        await started.wait()
        task.cancel()
        async with asyncio.timeout(WITHIN):
            await cancelled.wait()
        note = next(r for r in server.requests if r.rpc == "notifications/cancelled")
        assert note.json["params"]["requestId"] == server.calls()[0].json["id"]
        await pool.close()


async def test_a_session_is_kept_named_and_ended(make_pool: MakePool) -> None:
    handshake = Handshake()
    async with fake_http(handshake) as server:
        pool = make_pool(at(server))
        await call_tool(pool, "echo")
        call = server.calls()[0]
        assert call.headers["mcp-session-id"] == "session-1"
        assert call.headers["mcp-protocol-version"] == "2025-11-25"
        assert "mcp-method" not in call.headers
        await pool.close()
    assert handshake.ended == ["session-1"]


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26"])
async def test_revisions_without_a_version_header_get_none(
    make_pool: MakePool, version: str
) -> None:
    async with fake_http(Handshake(version=version)) as server:
        pool = make_pool(at(server))
        await call_tool(pool, "echo")
        assert "mcp-protocol-version" not in server.calls()[0].headers
        await pool.close()


@pytest.mark.parametrize("status", [404, 400])
async def test_a_forgotten_session_is_begun_anew_and_the_call_runs_once(
    make_pool: MakePool, status: int
) -> None:
    ran: list[Request] = []

    async def on_call(request: Request) -> None:
        if request.headers["mcp-session-id"] == "session-1" and ran:
            request.error(status, -32000, "Bad Request: No valid session ID provided")
            return
        ran.append(request)
        request.result({"content": []})

    async with fake_http(Handshake(on_call)) as server:
        pool = make_pool(at(server))
        await call_tool(pool, "echo")
        await call_tool(pool, "echo")
        await pool.close()
    assert [call.headers["mcp-session-id"] for call in ran] == ["session-1", "session-2"]


async def test_a_stream_cut_in_a_call_is_taken_up_where_it_ended(make_pool: MakePool) -> None:
    call_id = 0

    async def on_call(request: Request) -> None:
        nonlocal call_id
        call_id = request.json["id"]
        request.open_events()
        request.event(None, id="e1", retry="10")
        await request.writer.drain()
        request.close_events()

    async def on_get(request: Request) -> None:
        last = request.headers.get("last-event-id")
        if last is None:
            request.answer(405)
            return
        request.open_events()
        if last == "e1":
            progress = {"progressToken": call_id, "progress": 0.5}
            message = {"jsonrpc": "2.0", "method": "notifications/progress", "params": progress}
            request.event(message, id="e2")
            await request.writer.drain()
            request.cut()
            return
        request.event({"jsonrpc": "2.0", "id": call_id, "result": {"last": last}}, id="e3")
        request.close_events()

    async with fake_http(Handshake(on_call, listens=on_get)) as server:
        pool = make_pool(at(server))
        channel = RecordingChannel()
        call = modern_call(meta={"progressToken": 1})
        result = await call_tool(pool, "echo", call=call, channel=channel)
        assert result == {"last": "e2"}
        assert channel.progressed == [(0.5, None, None)]
        assert len(server.calls()) == 1
        await pool.close()


@pytest.mark.parametrize("era", ["modern", "handshake"])
async def test_a_stream_cut_for_good_is_an_error_and_nothing_runs_twice(
    make_pool: MakePool, era: str
) -> None:
    async def on_call(request: Request) -> None:
        request.open_events()
        await request.writer.drain()
        request.cut()

    async with fake_http(modern(on_call) if era == "modern" else Handshake(on_call)) as server:
        pool = make_pool(at(server))
        with pytest.raises(UpstreamError, match=r"fake: closed the stream.*may have run"):
            await call_tool(pool, "echo")
        assert len(server.calls()) == 1
        await pool.close()


@pytest.mark.parametrize("status", [410, 500, 503])
async def test_a_refusal_names_the_server_and_the_status(make_pool: MakePool, status: int) -> None:
    async def on_call(request: Request) -> None:
        request.answer(status, b"try later", "text/plain")

    async with fake_http(modern(on_call)) as server:
        pool = make_pool(at(server))
        with pytest.raises(UpstreamError, match=f"fake: answered HTTP {status}: try later"):
            await call_tool(pool, "echo")
        assert len(server.calls()) == 1
        await pool.close()


async def test_a_change_announced_on_the_open_stream_is_heard(make_pool: MakePool) -> None:
    changed: asyncio.Queue[str] = asyncio.Queue()

    async def on_get(request: Request) -> None:
        request.open_events()
        request.event({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
        await request.writer.drain()
        await request.gone()

    async with fake_http(Handshake(listens=on_get)) as server:
        pool = make_pool(at(server))
        pool.on_change(changed.put_nowait)
        await pool.listing("fake")
        async with asyncio.timeout(WITHIN):
            assert await changed.get() == "fake"
        await pool.close()


async def test_connections_are_kept_alive_between_calls(make_pool: MakePool) -> None:
    async with fake_http(modern()) as server:
        pool = make_pool(at(server))
        for n in range(5):
            result = await call_tool(pool, "echo", {"n": n})
            assert result["structuredContent"]["arguments"] == {"n": n}
        assert server.connections == 1
        await pool.close()


async def test_calls_in_flight_do_not_wait_for_each_other(make_pool: MakePool) -> None:
    arrived = 0
    everybody = asyncio.Event()

    async def on_call(request: Request) -> None:
        nonlocal arrived
        arrived += 1
        if arrived == 10:
            everybody.set()
        await everybody.wait()
        request.result({"resultType": "complete", "n": request.json["params"]["arguments"]["n"]})

    async with fake_http(modern(on_call)) as server:
        pool = make_pool(at(server))
        results = await asyncio.gather(*(call_tool(pool, "echo", {"n": n}) for n in range(10)))
        assert [result["n"] for result in results] == list(range(10))
        await pool.close()


async def test_a_redirect_within_the_origin_is_followed(make_pool: MakePool) -> None:
    inner = modern()

    async def handle(request: Request) -> None:
        if request.target == "/mcp":
            request.answer(307, location="/mcp/")
        else:
            await inner(request)

    async with fake_http(handle) as server:
        pool = make_pool(at(server))
        await call_tool(pool, "echo")
        assert server.requests[-1].target == "/mcp/"
        await pool.close()


async def test_a_redirect_to_another_origin_is_not_followed(make_pool: MakePool) -> None:
    async with fake_http(modern()) as other:

        async def handle(request: Request) -> None:
            request.answer(307, location=other.url)

        async with fake_http(handle) as server:
            pool = make_pool(at(server))
            with pytest.raises(UpstreamError, match="redirects to another origin"):
                await call_tool(pool, "echo")
            assert other.requests == []
            await pool.close()


async def test_an_upstream_that_is_not_there_fails_fast_and_recovers(make_pool: MakePool) -> None:
    port = free_port()
    definition = ServerDefinition(name="fake", url=f"http://127.0.0.1:{port}/mcp")
    pool = make_pool(definition)
    with pytest.raises(UpstreamError, match=r"fake: cannot connect to 127\.0\.0\.1"):
        await call_tool(pool, "echo")
    with pytest.raises(UpstreamError, match=r"fake: is down .*next attempt"):
        await call_tool(pool, "echo")
    health = pool.health()[0]
    assert health.state == "down"
    assert health.retry_in is not None
    async with fake_http(modern(), port):
        await asyncio.sleep(health.retry_in)
        await call_tool(pool, "echo")
        assert pool.health()[0].state == "up"
        await pool.close()


async def test_a_half_open_connection_ends_by_the_time_limit(make_pool: MakePool) -> None:
    silent = asyncio.Event()
    inner = modern()

    async def handle(request: Request) -> None:
        if silent.is_set():
            await request.gone()
        else:
            await inner(request)

    async with fake_http(handle) as server:
        pool = make_pool(at(server, timeout=2.0), limits=replace(QUICK, probe=1.0))
        await call_tool(pool, "echo")
        lost = asyncio.Event()
        pool.on_change(lambda _: lost.set())
        silent.set()
        with pytest.raises(UpstreamError, match=r"did not answer tools/call within 2 s"):
            await call_tool(pool, "echo")
        await lost.wait()
        assert "does not answer any more" in str(pool.health()[0].last_error)
        silent.clear()
        await call_tool(pool, "echo")
        await pool.close()
