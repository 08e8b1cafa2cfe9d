"""The server's side of an HTTP/1.1 connection: httptools parses, a Responder answers.

Our own because the cheapest server to be had takes four times as long per request; what is
hard about HTTP/1.1, the parsing, is done by llhttp.

Requests arrive one after the other, and may arrive before the last one is answered. Of those
that are here, one is current and the others wait in a queue. The last of them may still be
arriving. A head that came before on this connection is not parsed again. One task answers them
all, and waits in between: to make one for each costs as much as reading the request.
"""

from __future__ import annotations

import asyncio
import math
from collections import deque
from typing import TYPE_CHECKING

import httptools

from toolyard.http.headers import Header
from toolyard.http.request import Request
from toolyard.http.response import Response, status_line
from toolyard.http.serving.patience import Patience
from toolyard.http.serving.request_heads import Head, Repeated, read_head
from toolyard.telemetry import logger

if TYPE_CHECKING:
    from toolyard.http.serving.server import HttpServer

log = logger("http")
MOST_HEADER_BYTES = 64 * 1024
MOST_PIPELINED = 16
BODY_HIGH_WATER = 256 * 1024
_TOO_LARGE = httptools.HttpParserError("headers too large")


class ServerConnection(asyncio.Protocol):
    """One client connection; requests on it are answered one after the other."""

    foretold = ""  # see `continued`

    def __init__(self, server: HttpServer) -> None:
        self.server = server
        self._parser = httptools.HttpRequestParser(self)
        self._transport: asyncio.Transport = None  # type: ignore[assignment]  # until connected
        self._queue: deque[Response] = deque()
        self._current: Response | None = None
        self._task: asyncio.Task[None] | None = None  # from the first request on
        self._rest: asyncio.Future[None] | None = None  # while it has nothing to answer
        self._incoming: Request | None = None
        self._url = b""
        self._headers: list[Header] = []
        self._header_bytes = 0
        self._paused = False
        self._between = True  # nothing of the next request has arrived
        self._left = 0  # bytes of a body that come past the parser
        self._head: Head | None = None
        self._known_heads = Repeated()
        # To be awaited before more is written; None if there is room.
        self.writable: asyncio.Future[None] | None = None
        self.address = ""  # of the client; empty if it has none
        self.last_active = server.loop.time()
        # Since when we have been waiting for a head, a body, or room for more of an answer.
        self._since = self.last_active
        self._unread = 0  # bytes of the answer, at that time

    # -- events of the transport -------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport  # type: ignore[assignment]  # always a TCP transport
        peer = transport.get_extra_info("peername")
        self.address = str(peer[0]) if peer else ""
        server = self.server
        server.connections[self] = None
        if not (server.addresses.enter(self.address) and server.has_room()):
            self._refuse(503)

    def data_received(self, data: bytes) -> None:
        between = self._between
        request = self._known_heads.request_in(data) if between else None
        if request is not None:
            head, body = request
            self._enter(Response(self, Request(head, self, body)))
            return
        if self._left:
            self._take_more(data)
            return
        if between and self._begins(data):
            return
        self._head = None
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            self._refuse(400)
        except httptools.HttpParserError:
            self._refuse(400)
        else:
            if between and self._between and self._head is not None:
                self._known_heads.learn(data, self._head)

    def _begins(self, data: bytes) -> bool:
        """Is this a request with a head that came before, and more of its body is to come?"""
        known = self._known_heads.begun_in(data)
        if known is None:
            return False
        head, begun = known
        self._between = False
        self._since = self.server.loop.time()
        self._left = begun.left
        self._incoming = request = Request(head, self)
        self._enter(Response(self, request))
        if begun.body:
            self.on_body(begun.body)
        return True

    def _take_more(self, data: bytes) -> None:
        """What comes is body until there is all of it: nothing for a parser to find in it."""
        body = data[: self._left] if len(data) > self._left else data
        self._left -= len(body)
        self.on_body(body)
        if self._left:
            return
        self.on_message_complete()
        if len(body) < len(data):
            self.data_received(data[len(body) :])

    def pause_writing(self) -> None:
        self.writable = self.server.loop.create_future()

    def resume_writing(self) -> None:
        if self.writable is not None:
            self.writable.set_result(None)
            self.writable = None

    def connection_lost(self, error: Exception | None) -> None:
        self.server.connections.pop(self, None)
        self.server.addresses.leave(self.address)
        del self._parser  # it refers to us: without it there is no cycle to collect
        self.resume_writing()
        for response in (self._current, *self._queue):
            if response is not None:
                response.lost()
        self._wake()

    # -- events of the parser ----------------------------------------------------------

    def on_message_begin(self) -> None:
        self._between = False
        self._since = self.server.loop.time()
        self._url, self._headers, self._header_bytes = b"", [], 0

    def on_url(self, url: bytes) -> None:
        self._url += url
        self._header_bytes += len(url)
        if self._header_bytes > MOST_HEADER_BYTES:
            raise _TOO_LARGE

    def on_header(self, name: bytes, value: bytes) -> None:
        self._headers.append((name.lower(), value.strip(b" \t")))
        self._header_bytes += len(name) + len(value)
        if self._header_bytes > MOST_HEADER_BYTES:
            raise _TOO_LARGE

    def on_headers_complete(self) -> None:
        parser = self._parser
        method, version = parser.get_method().decode("ascii"), parser.get_http_version()
        head = read_head(method, self._url, version, self._headers)
        self._since = self.server.loop.time()
        keep = parser.should_keep_alive()
        self._head = head if keep else None
        self._incoming = request = Request(head, self)
        if head.headers.get("expect", "").lower() == "100-continue":
            request.go_ahead = self._continue
        self._enter(Response(self, request, keep_alive=keep))

    def on_body(self, body: bytes) -> None:
        if self._incoming is not None and self._incoming.feed(body) > BODY_HIGH_WATER:
            self._pause()

    def on_message_complete(self) -> None:
        if self._incoming is not None:
            self._incoming.complete()
            self._incoming = None
        self._between = True

    # -- the request that is being answered --------------------------------------------

    def _enter(self, response: Response) -> None:
        if self._current is None:
            self._begin(response)
            return
        self._queue.append(response)
        if len(self._queue) >= MOST_PIPELINED:
            self._pause()

    def _begin(self, response: Response) -> None:
        self._current = response
        server, task = self.server, self._task
        if task is None:
            self._task = task = server.loop.create_task(self._answer_all())
        else:
            self._wake()
        response.task = task
        server.tasks.add(task)

    def _wake(self) -> None:
        if self._rest is not None:
            self._rest.set_result(None)
            self._rest = None

    async def _answer_all(self) -> None:
        """Until the connection is lost, or is not to be kept."""
        server = self.server
        try:
            while (response := self._current) is not None:
                try:
                    await server.responder(response.request, response)
                except Exception:
                    log.exception("a request handler failed")
                except asyncio.CancelledError:
                    if not response.abandoned:
                        raise
                finally:
                    self._go_on(keep=response.finish())
                if self._current is None and self._task is not None:
                    self._rest = server.loop.create_future()
                    await self._rest
        except asyncio.CancelledError:
            self._transport.close()  # nobody would answer what comes next
            raise

    def _go_on(self, *, keep: bool) -> None:
        """The current request is answered: go on with the next one, or close."""
        server, transport = self.server, self._transport
        self._current = None
        self.last_active = server.loop.time()
        if keep and self._queue and not transport.is_closing():
            self._since = self.last_active
            self._begin(self._queue.popleft())
            self.read_on()
            return
        server.tasks.discard(self._task)
        if not keep or server.closing or transport.is_closing():
            self._task = None
            transport.close()

    def _continue(self) -> None:
        """Tell a client that asked first to go ahead with its body."""
        if self._current is not None and not self._current.begun:
            self.write(b"HTTP/1.1 100 Continue\r\n\r\n")

    def write(self, data: bytes) -> None:
        self._transport.write(data)

    def write_parts(self, parts: tuple[bytes, ...]) -> None:
        self._transport.writelines(parts)

    def _pause(self) -> None:
        self._paused = True
        self._transport.pause_reading()

    def read_on(self) -> None:
        if self._paused and not self._transport.is_closing():
            self._paused = False
            self._transport.resume_reading()

    @property
    def idle(self) -> bool:
        waits = self._current is None and not self._queue
        return waits and not self._transport.is_closing()

    def hurry(self, now: float, patience: Patience) -> None:
        """Hang up on a client that has kept us waiting for too long."""
        if self.writable is not None:
            unread = self._transport.get_write_buffer_size()
            if unread != self._unread:
                self._unread, self._since = unread, now
            elif now - self._since > patience.stall:
                self.abort()
        elif self._between:
            if self.idle and now - self.last_active > patience.idle:
                self.close()
        elif now - self._since > self._may_take(patience):
            self._refuse(408)

    def _may_take(self, patience: Patience) -> float:
        """How long a request may take; a body that nobody reads is not the client's fault."""
        if self._incoming is None:
            return patience.head
        current = self._current
        is_read = current is not None and current.request is self._incoming and not self._paused
        return patience.body if is_read else math.inf

    def close(self) -> None:
        self._transport.close()

    def abort(self) -> None:
        self._transport.abort()

    def _refuse(self, status: int) -> None:
        """Refuse the connection: say so, unless an answer is being written, and hang up."""
        silent = self._current is None or not self._current.begun
        if silent and not self._transport.is_closing():
            self.write(status_line(status) + b"content-length: 0\r\nconnection: close\r\n\r\n")
        self._transport.close()
