"""Strict clients over HTTP: the pair of 2024-11-05, Streamable HTTP, and that of 2026-07-28."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from urllib.parse import urljoin

from tests.peers.http1 import Reply, fetch
from tests.strict.client import Answers, StrictClient
from tests.strict.schema import Json, JsonObject

BOTH = "application/json, text/event-stream"
NAMED_BY = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}


class HttpClient(StrictClient):
    """Streamable HTTP of either era, a connection for every message."""

    def __init__(self, url: str, revision: str, capabilities: JsonObject) -> None:
        super().__init__(revision, capabilities)
        self.url = url
        self.session: str | None = None
        self._tasks: dict[Json, asyncio.Task[None]] = {}

    async def started(self) -> None:
        ready = asyncio.Event()
        self._tasks["GET"] = asyncio.create_task(self._own_stream(ready))
        await ready.wait()

    async def _own_stream(self, ready: asyncio.Event) -> None:
        headers = {**self._headers({}), "Accept": "text/event-stream"}
        async with fetch("GET", self.url, headers) as reply:
            if reply.status != 200:
                self.problems.append(f"GET answered {reply.status}")
            ready.set()
            await self._events(reply)

    async def send(self, message: Json) -> None:
        body = json.dumps(message).encode()
        async with fetch("POST", self.url, self._headers(message), body) as reply:
            if reply.status != 202:
                self.problems.append(f"{reply.status} and not 202 for {body[:100]!r}")

    async def begin(self, message: JsonObject) -> JsonObject:
        future = self.await_answer(message)
        self._open(message)
        return await future

    async def batch(self, messages: list[JsonObject]) -> list[JsonObject]:
        futures = [self.await_answer(message) for message in messages]
        body = json.dumps(messages).encode()
        async with fetch("POST", self.url, self._headers(messages), body) as reply:
            if reply.streams:
                await self._events(reply)
            else:
                await self.hear(await reply.json())
        return list(await asyncio.gather(*futures))

    async def open_listen(self, message: JsonObject) -> None:
        self.await_answer(message)
        self._open(message)

    async def cancel(self, message: JsonObject, reason: str) -> None:
        if self.modern:
            await self.end_listen(message["id"])
        else:
            await super().cancel(message, reason)

    async def end_listen(self, id: Json) -> None:
        task = self._tasks.pop(id)
        task.cancel()
        await asyncio.wait([task])

    async def close(self) -> None:
        for task in self._tasks.values():
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks.values())
        if self.session is not None:
            async with fetch("DELETE", self.url, self._headers({})):
                pass

    def _open(self, message: JsonObject) -> None:
        task = asyncio.create_task(self._exchange(message))
        self._tasks[message["id"]] = task
        task.add_done_callback(lambda _: self._tasks.pop(message["id"], None))

    async def _exchange(self, message: JsonObject) -> None:
        body = json.dumps(message).encode()
        async with fetch("POST", self.url, self._headers(message), body) as reply:
            if message["method"] == "initialize":
                self.session = reply.headers.get("mcp-session-id")
            if reply.streams:
                await self._events(reply)
                return
            raw = await reply.body()
            if raw:
                await self.hear(json.loads(raw))
            elif message["id"] not in self._given_up:
                self.problems.append(f"{reply.status} without a body for {body[:100]!r}")

    async def _events(self, reply: Reply) -> None:
        async for event in reply.events():
            if event.data:
                await self.hear(json.loads(event.data))

    def _headers(self, message: Json) -> dict[str, str]:
        headers = {"Content-Type": "application/json", "Accept": BOTH}
        if self.modern:
            method = message["method"]
            headers |= {"MCP-Protocol-Version": self.revision, "Mcp-Method": method}
            name = message["params"].get(NAMED_BY.get(method, ""))
            return headers if name is None else {**headers, "Mcp-Name": name}
        if self.session is not None:
            headers["Mcp-Session-Id"] = self.session
            if self.revision >= "2025-06-18":
                headers["MCP-Protocol-Version"] = self.revision
        return headers


class PairClient(StrictClient):
    """2024-11-05: a stream of all that comes, and a POST for each that goes."""

    def __init__(self, url: str, revision: str, capabilities: JsonObject) -> None:
        super().__init__(revision, capabilities)
        self.url = url
        self.endpoint: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    async def send(self, message: Json) -> None:
        body = json.dumps(message).encode()
        headers = {"Content-Type": "application/json"}
        async with fetch("POST", await self.endpoint, headers, body) as reply:
            if not 200 <= reply.status < 300:
                self.problems.append(f"{reply.status} for {body[:100]!r}")

    async def follow(self, reply: Reply) -> None:
        async for event in reply.events():
            if event.event == "endpoint":
                self.endpoint.set_result(urljoin(self.url, event.data or ""))
            elif event.data:
                await self.hear(json.loads(event.data))


@asynccontextmanager
async def over_http(
    url: str, revision: str, capabilities: JsonObject, answers: Answers | None = None
) -> AsyncIterator[StrictClient]:
    client = HttpClient(url, revision, capabilities)
    client.answers.update(answers or {})
    try:
        await client.start()
        yield client
    finally:
        await client.close()


@asynccontextmanager
async def over_pair(
    url: str, revision: str, capabilities: JsonObject, answers: Answers | None = None
) -> AsyncIterator[StrictClient]:
    client = PairClient(url, revision, capabilities)
    client.answers.update(answers or {})
    async with AsyncExitStack() as stack:
        reply = await stack.enter_async_context(fetch("GET", url, {"Accept": "text/event-stream"}))
        following = asyncio.create_task(client.follow(reply))
        stack.callback(following.cancel)
        await client.start()
        yield client
