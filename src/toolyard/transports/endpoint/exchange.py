"""One HTTP request on its way through the MCP endpoint: what was sent, and how to answer."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from dataclasses import dataclass
from functools import cached_property

from toolyard.errors import (
    HEADER_MISMATCH,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    MISSING_CAPABILITY,
    PARSE_ERROR,
    UNSUPPORTED_REVISION,
    ProtocolError,
)
from toolyard.http.events import EVENT_HEADERS, KEEP_ALIVE, event
from toolyard.http.headers import JSON_TYPE, Header
from toolyard.http.request import Request, query_fields
from toolyard.http.response import Response
from toolyard.protocol.call import Caller
from toolyard.protocol.jsonrpc import RequestId, encode_error
from toolyard.transports.endpoint.outbox import Outbox, priming

RETRY_MS = 500
KEEP_ALIVE_AFTER = 15.0
NOBODY = Caller()
_JSON = (JSON_TYPE,)
MODERN_STATUS = {
    PARSE_ERROR: 400,
    INVALID_REQUEST: 400,
    INVALID_PARAMS: 400,
    HEADER_MISMATCH: 400,
    MISSING_CAPABILITY: 400,
    UNSUPPORTED_REVISION: 400,
    METHOD_NOT_FOUND: 404,
}


@dataclass(slots=True)
class Exchange:
    """A request with its response, and who sent it."""

    request: Request
    response: Response
    headers: dict[str, str]
    # Who is calling; nobody until the credentials are checked, where there are any.
    caller: Caller = NOBODY
    # What was posted, for whoever passes it on.
    body: bytes = b""
    # Another process has passed it on to us: nobody is to get it from us.
    visiting: bool = False
    # The query that the client sent to that process.
    visiting_query: bytes = b""
    # Nothing happens by it that must not happen twice.
    repeatable: bool = False
    _reply: Reply | None = None

    @property
    def query(self) -> bytes:
        return self.visiting_query if self.visiting else self.request.head.query

    @property
    def address(self) -> dict[str, str] | None:
        """The fields of the query; None if there are none, as with most clients."""
        query = self.visiting_query if self.visiting else self.request.head.query
        return query_fields(query) if query else None

    async def refuse(
        self,
        status: int,
        error: ProtocolError,
        request_id: RequestId | None = None,
        headers: tuple[Header, ...] = (),
    ) -> None:
        await self.response.send(status, encode_error(request_id, error), (JSON_TYPE, *headers))

    async def accepted(self) -> None:
        await self.response.send(202)

    def put(self, message: bytes) -> None:
        """Send a message before the answer, which makes it a stream; most calls say nothing."""
        if self._reply is None:
            self._reply = Reply(self.response)
        self._reply.put(message)

    def finish(self, answer: bytes, status: int) -> Awaitable[None] | None:
        """Send the answer; gives what is left to await, if anything."""
        if self._reply is None:
            return self.response.send_at_once(status, answer, _JSON)
        return self._reply.finish(answer, status)


class Reply:
    """The response to one POST: JSON, or an event stream if messages come before the answer."""

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


def may_have_run() -> ProtocolError:
    """For whoever waits for something that another process did."""
    why = "The process that ran this is gone: it may have run, and was not tried again"
    return ProtocolError(INTERNAL_ERROR, why)
