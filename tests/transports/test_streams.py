"""Event streams of handshake sessions: who gets which message, when, and how they end."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import pytest_asyncio

from tests.peers.http1 import Reply, fetch, head, reply_from
from tests.peers.raw_http import HttpClient, over_http
from tests.peers.serving import Listening, listening
from tests.until import until

pytestmark = pytest.mark.asyncio(loop_scope="module")
PROGRAM = [sys.executable, "-m", "tests.transports.odd", "http"]
STREAMING = ("2025-03-26", "2025-06-18", "2025-11-25")
every_revision = pytest.mark.parametrize("revision", STREAMING)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server() -> AsyncIterator[Listening]:
    async with listening(PROGRAM) as running:
        yield running


@asynccontextmanager
async def stream(client: HttpClient, last: str | None = None) -> AsyncIterator[Reply]:
    headers = {**client.right(None), "Accept": "text/event-stream"}
    if last is not None:
        headers["Last-Event-ID"] = last
    async with fetch("GET", client.url, headers) as reply:
        assert reply.status == 200
        yield reply


class Heard:
    """What comes on a stream, as it comes."""

    def __init__(self, reply: Reply) -> None:
        self.names: list[str] = []
        self.ids: list[str] = []
        self._task = asyncio.create_task(self._listen(reply))

    async def _listen(self, reply: Reply) -> None:
        async for event in reply.events():
            if event.data:
                self.names.append(json.loads(event.data)["params"]["uri"])
                self.ids.append(event.id or "")

    async def until(self, name: str) -> None:
        await until(lambda: name in self.names)

    async def stop(self) -> None:
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)


async def announce(client: HttpClient, name: str) -> None:
    method = "notifications/resources/updated"
    await client.call("announce", {"method": method, "params": {"uri": name}})


@every_revision
async def test_a_stream_says_something_at_once(server: Listening, revision: str) -> None:
    async with over_http(server.url, revision) as client, asyncio.timeout(5):
        async with stream(client) as reply:
            first = await anext(reply.pieces())
        assert first.startswith(b"id: " if revision == "2025-11-25" else b": ")


@every_revision
async def test_a_message_goes_to_one_of_two_streams(server: Listening, revision: str) -> None:
    async with over_http(server.url, revision) as client:
        async with stream(client) as older:
            first = Heard(older)
            await announce(client, "test:a")
            await first.until("test:a")
            async with stream(client) as newer:
                second = Heard(newer)
                await announce(client, "test:b")
                await second.until("test:b")
                await second.stop()
            # The newer one is gone when its end has been seen: until then a message is its own.
            for number in range(100):
                await announce(client, f"test:c{number}")
                if len(first.names) > 1:
                    break
            assert first.names[0] == "test:a"
            assert not set(first.names) & set(second.names)
            await first.stop()
        assert len(first.names) > 1


async def test_a_stream_begins_with_what_nobody_was_told(server: Listening) -> None:
    async with over_http(server.url, "2025-11-25") as client:
        await announce(client, "test:a")
        async with stream(client) as reply:
            heard = Heard(reply)
            await heard.until("test:a")
            await heard.stop()
        async with stream(client) as reply:
            again = Heard(reply)
            await announce(client, "test:b")
            await again.until("test:b")
            await again.stop()
        assert again.names == ["test:b"]
        async with stream(client, last=heard.ids[0]) as reply:
            resumed = Heard(reply)
            await resumed.until("test:b")
            await resumed.stop()
        assert resumed.names == ["test:b"]


@every_revision
async def test_the_response_of_a_cancelled_call_ends(server: Listening, revision: str) -> None:
    async with over_http(server.url, revision) as client:
        seen = len(server.stderr)
        message = client.message("tools/call", {"name": "hang", "arguments": {}}, id="h")
        body = json.dumps(message).encode()
        host, port = server.origin.removeprefix("http://").split(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        headers = {**client.right(message), "Connection": "keep-alive"}
        writer.write(head("POST", client.url, headers, body) + body)
        async with asyncio.timeout(10):
            await server.says("hang began", seen)
            await client.notify("notifications/cancelled", {"requestId": "h", "reason": "bored"})
            reply = await reply_from(reader)
            framed = {"content-length", "transfer-encoding"} & reply.headers.keys()
            assert framed
            assert b"result" not in await reply.body()
            if "transfer-encoding" in framed:
                assert await reader.readexactly(2) == b"\r\n"
            # The connection is as good as before.
            ping = json.dumps(client.message("ping")).encode()
            writer.write(head("POST", client.url, headers, ping) + ping)
            assert b'"result"' in await (await reply_from(reader)).body()
        writer.close()
        assert "hang was cancelled: bored" in server.stderr[seen:]
