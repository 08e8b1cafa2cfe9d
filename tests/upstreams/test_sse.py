"""The transport of 2024-11-05, and how it is found."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from tests.upstreams.conftest import MakePool
from tests.upstreams.fake_http import Handle, Request, fake_http, modern
from tests.upstreams.seam import RecordingChannel, call_tool
from toolyard.errors import UpstreamError
from toolyard.upstreams.definition import ServerDefinition


class Pair:
    """A server of that transport alone: one stream, one place to post to."""

    def __init__(self, endpoint: str = "/messages?session=1") -> None:
        self.endpoint = endpoint
        self.stream: Request | None = None
        self.posted: list[str] = []

    async def __call__(self, request: Request) -> None:
        if request.method == "GET":
            self.stream = request
            request.open_events()
            data = f"event: endpoint\ndata: {self.endpoint}\n\n".encode()
            request.raw(b"%x\r\n%b\r\n" % (len(data), data))
            await request.writer.drain()
            await request.gone()
        elif request.target != self.endpoint:
            request.answer(405)
        else:
            request.answer(202, b"Accepted", "text/plain")
            self.answer(request.json)

    def answer(self, message: dict[str, Any]) -> None:
        assert self.stream is not None
        self.posted.append(message.get("method", ""))
        if message.get("method") == "initialize":
            result: dict[str, Any] = {
                "protocolVersion": "2024-11-05",
                "capabilities": {"tools": {}},
            }
        elif message.get("params", {}).get("name") == "cut":
            self.stream.cut()
            return
        else:
            result = {"structuredContent": message.get("params")}
        if "id" in message:
            self.stream.event({"jsonrpc": "2.0", "id": message["id"], "result": result})


def defined(url: str, transport: Any = "auto") -> ServerDefinition:
    return ServerDefinition(name="fake", url=url, transport=transport)


@pytest.mark.parametrize("transport", ["auto", "sse"])
async def test_a_server_of_the_older_transport_is_found(
    make_pool: MakePool, transport: str
) -> None:
    pair = Pair()
    async with fake_http(pair) as server:
        pool = make_pool(defined(server.url, transport))
        result = await call_tool(pool, "echo", {"a": 1})
        assert result["structuredContent"] == {"name": "echo", "arguments": {"a": 1}}
        health = pool.health()[0]
        assert (health.transport, health.revision) == ("sse", "2024-11-05")
        await pool.close()
    assert pair.posted[:2] == ["initialize", "notifications/initialized"]


async def test_a_newer_server_is_found_where_the_registry_says_sse(make_pool: MakePool) -> None:
    async with fake_http(modern()) as server:
        pool = make_pool(defined(server.url, "sse"))
        await call_tool(pool, "echo")
        assert pool.health()[0].transport == "streamablehttp"
        await pool.close()


async def test_an_explicit_transport_is_not_second_guessed(make_pool: MakePool) -> None:
    async with fake_http(Pair()) as server:
        pool = make_pool(defined(server.url, "streamablehttp"))
        with pytest.raises(UpstreamError, match="answered HTTP 405"):
            await call_tool(pool, "echo")
        assert "GET" not in server.rpcs()
        await pool.close()


async def test_a_lost_stream_fails_its_calls_and_the_next_one_gets_a_new_stream(
    make_pool: MakePool,
) -> None:
    pair = Pair()
    async with fake_http(pair) as server:
        pool = make_pool(defined(server.url))
        with pytest.raises(UpstreamError, match=r"closed its event stream; the request may have"):
            await call_tool(pool, "cut")
        await call_tool(pool, "echo")
        assert pair.posted.count("tools/call") == 2
        assert pair.posted.count("initialize") == 2
        await pool.close()


async def test_an_endpoint_on_another_origin_is_refused(make_pool: MakePool) -> None:
    async with fake_http(modern()) as other, fake_http(Pair(other.url)) as server:
        pool = make_pool(defined(server.url, "sse"))
        with pytest.raises(UpstreamError, match="names an endpoint on another origin"):
            await call_tool(pool, "echo")
        assert other.requests == []
        await pool.close()


async def test_messages_in_flight_find_their_calls(make_pool: MakePool) -> None:
    async with fake_http(Pair()) as server:
        pool = make_pool(defined(server.url))
        channel = RecordingChannel()
        results = await asyncio.gather(
            *(call_tool(pool, "echo", {"n": n}, channel=channel) for n in range(20))
        )
        assert [r["structuredContent"]["arguments"]["n"] for r in results] == list(range(20))
        await pool.close()


async def test_a_batch_in_an_answer_is_taken_apart(make_pool: MakePool) -> None:
    async def on_call(request: Request) -> None:
        call_id = request.json["id"]
        note = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info"}}
        answer = {"jsonrpc": "2.0", "id": call_id, "result": {"resultType": "complete"}}
        request.answer(200, json.dumps([note, answer]).encode())

    handle: Handle = modern(on_call)
    async with fake_http(handle) as server:
        pool = make_pool(defined(server.url))
        channel = RecordingChannel()
        assert await call_tool(pool, "echo", channel=channel) == {"resultType": "complete"}
        assert channel.logged == [("info", None, None)]
        await pool.close()
