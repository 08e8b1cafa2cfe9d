"""Raw MCP clients over HTTP: Streamable HTTP of both eras, and the 2024-11-05 event pair."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import urljoin

from tests.peers.http1 import Event, Reply, fetch
from tests.peers.raw import WITHIN, DuplexClient, JsonObject, RawClient

BOTH = "application/json, text/event-stream"
# Where the routing header `Mcp-Name` is taken from, in the modern era.
NAMED_BY = {
    "tools/call": "name",
    "prompts/get": "name",
    "resources/read": "uri",
    **dict.fromkeys(("tasks/get", "tasks/update", "tasks/cancel"), "taskId"),
}


@dataclass(frozen=True, slots=True)
class Posted:
    """What came back for one POST, read to its end."""

    status: int
    headers: dict[str, str]
    body: bytes
    messages: list[Any]


class HttpClient(RawClient):
    """Streamable HTTP: a connection for every message, as the least clever client would."""

    def __init__(
        self, url: str, revision: str, *, headers: Mapping[str, str] | None = None, **options: Any
    ) -> None:
        super().__init__(revision, **options)
        self.url = url
        self.headers = dict(headers or {})
        self.session: str | None = None
        self.status = 0  # of the last response to a request
        self.events: list[Event] = []
        self._streams = AsyncExitStack()

    async def post(self, message: Any, headers: Mapping[str, str] | None = None) -> Posted:
        """One POST of anything, with headers laid over the right ones; its whole outcome."""
        body = message if isinstance(message, bytes) else json.dumps(message).encode()
        async with fetch("POST", self.url, {**self.right(message), **(headers or {})}, body) as got:
            if got.streams:
                found = [json.loads(event.data) async for event in got.events() if event.data]
                return Posted(got.status, got.headers, b"", found)
            raw = await got.body()
            return Posted(got.status, got.headers, raw, [json.loads(raw)] if raw else [])

    async def delete(self) -> int:
        async with fetch("DELETE", self.url, self.right(None)) as got:
            return got.status

    async def exchange(self, message: JsonObject) -> JsonObject:
        self.asked(message)
        body = json.dumps(message).encode()
        async with fetch("POST", self.url, self.right(message), body) as got:
            self.status = got.status
            if message["method"] == "initialize":
                self.session = got.headers.get("mcp-session-id")
            response, last = await self.response_in(got, message["id"])
        while response is None:
            response, last = await self.resume(message["id"], last)
        return response

    async def send(self, message: Any) -> None:
        posted = await self.post(message)
        if posted.status != 202:
            self.problems.append(f"{posted.status} instead of 202 for {json.dumps(message)[:200]}")

    @asynccontextmanager
    async def stream(self, message: JsonObject) -> AsyncIterator[Reply]:
        """POST a request and keep its response open: for listens, disconnects, cancellation."""
        self.asked(message)
        body = json.dumps(message).encode()
        async with fetch("POST", self.url, self.right(message), body) as got:
            yield got

    async def open_get(self) -> None:
        """Open the session's own stream; what comes on it lands in `notifications`."""
        got = await self._streams.enter_async_context(
            fetch("GET", self.url, {**self.right(None), "Accept": "text/event-stream"})
        )
        assert got.status == 200, f"GET answered {got.status}"
        await self.follow(got)

    async def subscribe(self, **filter: Any) -> JsonObject:
        """Open `subscriptions/listen` for the block's life; the filter that was honoured."""
        message = self.message("subscriptions/listen", {"notifications": filter})
        got = await self._streams.enter_async_context(self.stream(message))
        assert got.streams, f"subscriptions/listen answered {got.status}: {await got.body()!r}"
        await self.follow(got)
        acknowledged = await self.notification("notifications/subscriptions/acknowledged")
        honoured: JsonObject = acknowledged["params"]["notifications"]
        return honoured

    async def follow(self, reply: Reply) -> None:
        task = asyncio.create_task(self.hear_all(reply))
        self._streams.callback(task.cancel)

    async def hear_all(self, reply: Reply) -> None:
        async for event in reply.events():
            await self.take(event)

    async def close(self) -> None:
        await self._streams.aclose()
        if self.session is not None:
            with suppress(ConnectionError):  # a server that a test has ended needs no goodbye
                await self.delete()

    async def response_in(self, reply: Reply, id: Any) -> tuple[JsonObject | None, str | None]:
        """The response, or the last event id of a stream that ended without it."""
        if not reply.streams:
            raw = await reply.body()
            assert raw, f"HTTP {reply.status} without a body"
            response: JsonObject = json.loads(raw)
            self.hear(response)
            return response, None
        last: str | None = None
        async for event in reply.events():
            last = event.id or last
            message = await self.take(event)
            if message is not None and "method" not in message and message.get("id") == id:
                return message, last
        assert last is not None, "the stream ended without a response and without event ids"
        return None, last

    async def take(self, event: Event) -> JsonObject | None:
        self.events.append(event)
        if not event.data:
            return None
        message: JsonObject = json.loads(event.data)
        self.hear(message)
        if "method" in message and "id" in message:
            await self.send(self.reply_to(message))
        return message

    async def resume(self, id: Any, last: str | None) -> tuple[JsonObject | None, str | None]:
        """Come back for the rest of a stream that the server has closed."""
        headers = {"Accept": "text/event-stream", "Last-Event-ID": last or ""}
        waits = [event.retry for event in self.events if event.retry is not None]
        await asyncio.sleep((waits[-1] if waits else 100) / 1000)
        async with fetch("GET", self.url, {**self.right(None), **headers}) as got:
            assert got.status == 200, f"resuming answered {got.status}"
            response, newer = await self.response_in(got, id)
            return response, newer or last

    def right(self, message: Any) -> dict[str, str]:
        """The headers that this revision wants for a message."""
        headers = {"Content-Type": "application/json", "Accept": BOTH}
        if self.modern and isinstance(message, dict):
            headers |= routing(message, self.revision)
        elif self.session is not None:
            headers |= {"Mcp-Session-Id": self.session, "MCP-Protocol-Version": self.revision}
        return headers | self.headers


def routing(message: JsonObject, revision: str) -> dict[str, str]:
    """The headers by which a modern request can be routed unread."""
    headers = {"MCP-Protocol-Version": revision}
    method = message.get("method")
    if isinstance(method, str):
        headers["Mcp-Method"] = method
        name = message.get("params", {}).get(NAMED_BY.get(method, ""))
        if isinstance(name, str):
            headers["Mcp-Name"] = header_value(name)
    return headers


def header_value(text: str) -> str:
    """As is where it is plain visible ASCII, otherwise in the Base64 form."""
    plain = text.isascii() and text.isprintable() and text == text.strip()
    if plain and not text.startswith("=?"):
        return text
    return f"=?base64?{base64.b64encode(text.encode()).decode()}?="


class SseClient(DuplexClient):
    """The 2024-11-05 pair: one event stream for all that comes, POSTs for all that goes."""

    def __init__(self, url: str, revision: str, **options: Any) -> None:
        super().__init__(revision, **options)
        self.url = url
        self.endpoint: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    async def send(self, message: Any) -> None:
        headers = {"Content-Type": "application/json"}
        body = json.dumps(message).encode()
        async with fetch("POST", await self.endpoint, headers, body) as got:
            if got.status != 202:
                self.problems.append(f"{got.status} instead of 202: {await got.body()!r}")

    async def listen(self, reply: Reply) -> None:
        async for event in reply.events():
            if event.event == "endpoint":
                self.endpoint.set_result(urljoin(self.url, event.data or ""))
            elif event.data:
                await self.arrive(json.loads(event.data))
        self.hang_up("the event stream ended")


@asynccontextmanager
async def over_http(
    url: str, revision: str = "2025-11-25", *, start: bool = True, **options: Any
) -> AsyncIterator[HttpClient]:
    """Talk Streamable HTTP; `start=False` leaves the handshake to the test."""
    client = HttpClient(url, revision, **options)
    try:
        if start:
            await client.start()
        yield client
    finally:
        await client.close()
    client.assert_well_formed()


@asynccontextmanager
async def over_sse(
    url: str, revision: str = "2024-11-05", *, start: bool = True, **options: Any
) -> AsyncIterator[SseClient]:
    """Talk the HTTP+SSE transport; `url` is that of the event stream."""
    client = SseClient(url, revision, **options)
    async with fetch("GET", url, {"Accept": "text/event-stream"}) as reply:
        assert reply.status == 200, f"GET {url} answered {reply.status}"
        listener = asyncio.create_task(client.listen(reply))
        try:
            async with asyncio.timeout(WITHIN):
                await asyncio.shield(client.endpoint)
            if start:
                await client.start()
            yield client
        finally:
            listener.cancel()
    client.assert_well_formed()
