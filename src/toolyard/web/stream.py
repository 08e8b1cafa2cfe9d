"""An event stream to one browser: queued, sent until it ends or the browser leaves."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterable

from toolyard.http.messages import EVENT_HEADERS, KEEP_ALIVE, Header, Receive, Send, event
from toolyard.protocol.call import Json
from toolyard.web.encode import encoded

MOST_WAITING = 5_000
QUIET = 15.0


class Events:
    """What waits to be sent. A reader that is too slow loses events, not our memory."""

    def __init__(self) -> None:
        self._waiting: deque[bytes] = deque()
        self._news = asyncio.Event()
        self.ended = False
        self.lost = 0

    def push(self, name: str, data: Json) -> None:
        if len(self._waiting) >= MOST_WAITING:
            self.lost += 1
            return
        self._waiting.append(event(encoded(data), name=name))
        self._news.set()

    def end(self) -> None:
        self.ended = True
        self._news.set()

    async def wait(self) -> bytes:
        """All that waits, as one piece; a sign of life when there is nothing for long."""
        try:
            async with asyncio.timeout(QUIET):
                await self._news.wait()
        except TimeoutError:
            return KEEP_ALIVE
        self._news.clear()
        sent = b"".join(self._waiting)
        self._waiting.clear()
        return sent


async def stream(
    events: Events, receive: Receive, send: Send, headers: Iterable[Header] = ()
) -> None:
    """Send until the events end or the browser leaves."""
    head = [*EVENT_HEADERS, *headers]
    await send({"type": "http.response.start", "status": 200, "headers": head})
    leaving = asyncio.ensure_future(_left(receive))
    sending = asyncio.ensure_future(_send_all(events, send))
    try:
        await asyncio.wait((leaving, sending), return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in (leaving, sending):
            task.cancel()
        await asyncio.gather(leaving, sending, return_exceptions=True)


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _send_all(events: Events, send: Send) -> None:
    while True:
        ended = events.ended
        body = await events.wait()
        ended = ended or events.ended
        await send({"type": "http.response.body", "body": body, "more_body": not ended})
        if ended:
            return
