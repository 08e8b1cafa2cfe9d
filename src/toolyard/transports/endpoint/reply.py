"""The HTTP response to one POST: plain JSON, or an event stream if messages come before it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from functools import cached_property

from toolyard.http.events import EVENT_HEADERS, KEEP_ALIVE, event
from toolyard.http.headers import JSON_TYPE
from toolyard.http.response import Response
from toolyard.transports.endpoint.outbox import Outbox, priming

RETRY_MS = 500
KEEP_ALIVE_AFTER = 15.0
_JSON = (JSON_TYPE,)


class Reply:
    """Messages put before the answer turn the response into an event stream."""

    def __init__(
        self, response: Response, number: int | None = None, *, primed: bool = False
    ) -> None:
        self._response = response
        self._number = number  # of the stream, if it can be resumed
        self._primed = primed
        self._pump: asyncio.Task[None] | None = None
        self._detached = False

    @cached_property
    def outbox(self) -> Outbox:
        """Made at first use: most calls say nothing before their answer."""
        return Outbox("" if self._number is None else f"r{self._number}")

    @property
    def streaming(self) -> bool:
        return self._pump is not None

    def put(self, message: bytes) -> None:
        self.outbox.put(message)
        self._start()

    def detach(self) -> None:
        """End the response now; what comes later waits for a client that resumes."""
        self._detached = True
        self._start()
        self.outbox.rouse()

    def _start(self) -> None:
        if self._pump is None:
            self._pump = asyncio.get_running_loop().create_task(self._stream())

    def finish(self, answer: bytes | None, status: int = 200) -> Awaitable[None] | None:
        """Send the answer; None: the request was cancelled and gets none.

        Gives what is left to await, if anything.
        """
        if self._pump is None and answer is not None:
            return self._response.send_at_once(status, answer, _JSON)
        return self._finish_stream(answer)

    async def _finish_stream(self, answer: bytes | None) -> None:
        if answer is not None:
            self.outbox.put(answer)
        self.outbox.close()
        self._start()
        if self._pump is not None:
            await self._pump

    async def _stream(self) -> None:
        self._response.start(EVENT_HEADERS)
        if self._primed:
            await self._response.write(priming(self.outbox.event_id(0), RETRY_MS))
        if not self._detached:
            await self._follow()
        await self._response.end()

    async def _follow(self) -> None:
        async for item in self.outbox.follow(idle=KEEP_ALIVE_AFTER):
            if item is not None:
                number, message = item
                event_id = self.outbox.event_id(number) if self._number is not None else None
                await self._response.write(event(message, event_id))
                if self._number is None:
                    self.outbox.forget(number)  # nobody can come back for it
            elif not self._detached and not self.outbox.closed:
                await self._response.write(KEEP_ALIVE)
            if self._detached:
                return
