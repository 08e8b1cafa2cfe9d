"""A link over the transport of 2024-11-05: one event stream, and a URL to post to."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping

from toolyard.http.events import ServerSentEvent
from toolyard.http.fetching.client import ClientResponse, Url
from toolyard.processes.pacing import Pace
from toolyard.protocol.call import JsonObject
from toolyard.protocol.codec import dumps
from toolyard.upstreams.link.link import (
    NO_HEADERS,
    Link,
    LinkError,
    Lost,
    Outgoing,
    Pending,
    Refusal,
    SessionGone,
)
from toolyard.upstreams.link.post import Requester, refusal
from toolyard.upstreams.link.streams import ACCEPT_EVENTS, events_of, messages_of


class SseLink(Link):
    """Everything comes in on one event stream; everything goes out as a POST of its own."""

    transport = "sse"

    def __init__(self, requester: Requester, pace: Pace) -> None:
        super().__init__(pace)
        self._http = requester
        self.address = requester.url.host
        self._pending = Pending()
        self._endpoint: Url | None = None
        self._response: ClientResponse | None = None
        self._reading: asyncio.Task[None] | None = None

    async def _open(self) -> None:
        self._response = response = await self._http.send("GET", {"Accept": ACCEPT_EVENTS})
        if response.status != 200:
            raise await refusal(response)
        if response.content_type != ACCEPT_EVENTS:
            raise Refusal(response.status, "it is not an event stream")
        events = events_of(response, self._http.max_message)
        self._endpoint = await self._first(events)
        self._reading = asyncio.get_running_loop().create_task(self._read(events))

    async def _first(self, events: AsyncIterator[ServerSentEvent]) -> Url:
        async for event in events:
            if event.kind == "endpoint":
                return self._checked(bytes(event.data).decode("utf-8", "replace"))
        raise Lost("closed the stream before it named its endpoint")

    def _checked(self, reference: str) -> Url:
        try:
            endpoint = self._http.url.join(reference)
        except ValueError:
            raise Lost(f"names an endpoint that is not a URL, {reference!r}") from None
        if endpoint.origin != self._http.url.origin:
            raise Lost("names an endpoint on another origin")
        return endpoint

    async def _read(self, events: AsyncIterator[ServerSentEvent]) -> None:
        error: LinkError = Lost("closed its event stream")
        try:
            async for event in events:
                for message in messages_of(event):
                    if "method" in message:
                        self._hearer.receive(message, None)
                    elif self._pending.settle(message):
                        continue
                    await self.pause(len(event.data))
        except LinkError as failure:
            error = failure
        self._pending.fail(error)
        self.lose(error)

    async def exchange(self, out: Outgoing) -> JsonObject:
        answer = self._pending.add(out.id)
        try:
            await self._post(out.encode(), out.headers, out.lines)
            return await answer
        finally:
            self._pending.drop(out.id)

    async def send(self, message: JsonObject, version: str | None) -> None:
        await self._post(dumps(message))

    async def _post(
        self, body: bytes, extra: Mapping[str, str] = NO_HEADERS, lines: bytes = b""
    ) -> None:
        if self.lost is not None:
            raise SessionGone(str(self.lost))
        headers = {"Content-Type": "application/json", **extra}
        response = await self._http.send("POST", headers, body, url=self._endpoint, lines=lines)
        try:
            if response.status == 404:
                raise SessionGone("forgot our session")
            if response.status >= 300:
                raise await refusal(response)
        finally:
            response.close()

    async def close(self) -> None:
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.gather(self._reading, return_exceptions=True)
        self._pending.fail(self.lost or Lost("was stopped"))
        if self._response is not None:
            self._response.close()
