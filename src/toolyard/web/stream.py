"""An event stream to one browser: queued, and sent until it ends or the browser leaves."""

from __future__ import annotations

import asyncio
from collections import deque

from toolyard.http.events import EVENT_HEADERS, KEEP_ALIVE, event
from toolyard.http.headers import Header
from toolyard.http.request import Request
from toolyard.http.response import Response
from toolyard.protocol.call import Json
from toolyard.web.encode import encoded

MOST_WAITING = 5_000
QUIET = 15.0


class Events:
    """A queue of events to send. A reader that is too slow loses events, rather than we memory."""

    def __init__(self) -> None:
        self._queue: deque[bytes] = deque()
        self._news = asyncio.Event()
        self.ended = False
        self.lost = 0

    def push(self, name: str, data: Json) -> None:
        if len(self._queue) >= MOST_WAITING:
            self.lost += 1
            return
        self._queue.append(event(encoded(data), name=name))
        self._news.set()

    def end(self) -> None:
        self.ended = True
        self._news.set()

    async def wait(self) -> bytes:
        """The whole queue in one piece; a sign of life when nothing has come for long."""
        try:
            async with asyncio.timeout(QUIET):
                await self._news.wait()
        except TimeoutError:
            return KEEP_ALIVE
        self._news.clear()
        body = b"".join(self._queue)
        self._queue.clear()
        return body


async def stream(
    events: Events, request: Request, response: Response, headers: tuple[Header, ...] = ()
) -> None:
    """Send until the events end or the browser leaves."""
    response.start((*EVENT_HEADERS, *headers))
    await request.while_connected(_send_all(events, response))


async def _send_all(events: Events, response: Response) -> None:
    final = False
    while not final:
        final = events.ended
        body = await events.wait()
        final = final or events.ended
        await (response.end(body) if final else response.write(body))
