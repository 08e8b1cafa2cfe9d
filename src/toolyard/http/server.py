"""HTTP/1.1 for one ASGI app: httptools parses, one write answers. Knows no MCP.

Owned because the cheapest server that could be had takes four times as long per request;
what is hard about HTTP/1.1, the parsing, is llhttp's.
"""

from __future__ import annotations

import asyncio
import math
from collections import deque
from collections.abc import MutableMapping
from functools import lru_cache
from typing import Any
from urllib.parse import unquote

import httptools

from toolyard.http.body import Body
from toolyard.http.messages import CANCEL_WHEN_LEFT, AsgiApp, Header, Scope
from toolyard.http.patience import Patience
from toolyard.http.request_heads import HEAD, Repeated, read_head
from toolyard.http.shared import Shared, lines, status_line
from toolyard.telemetry import logger

log = logger("http")
MOST_HEADER_BYTES = 64 * 1024
MOST_PIPELINED = 16
BODY_HIGH_WATER = 256 * 1024
_ASGI = {"version": "3.0"}
_TOO_LARGE = httptools.HttpParserError("headers too large")
_BODILESS = frozenset({204, 304})
_LAST_CHUNK = b"0\r\n\r\n"
_KEEP, _CLOSE = b"\r\n", b"connection: close\r\n\r\n"
Message = MutableMapping[str, Any]


class Connection(asyncio.Protocol):
    """One client connection; requests on it are answered one after the other."""

    def __init__(self, shared: Shared) -> None:
        self.shared = shared
        self._parser = httptools.HttpRequestParser(self)
        self._transport: asyncio.Transport = None  # type: ignore[assignment]  # until connected
        self._waiting: deque[Exchange] = deque()
        self._current: Exchange | None = None
        self._arriving: Exchange | None = None
        self._url = b""
        self._headers: list[Header] = []
        self._header_bytes = 0
        self._paused = False
        self._between = True  # nothing of the next request has arrived
        self._parsed: dict[str, Any] | None = None
        self._repeated = Repeated()
        # To be awaited before more is written; None where nothing stands in the way.
        self.writable: asyncio.Future[None] | None = None
        self._client: Any = None
        self.last_active = shared.loop.time()
        # Since when a head, a body, or room for more of an answer is awaited.
        self._since = self.last_active
        self._unread = 0  # bytes of the answer, at that time

    # -- events of the transport -------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport  # type: ignore[assignment]  # always a TCP transport
        self._client = transport.get_extra_info("peername")
        shared = self.shared
        shared.connections.add(self)
        if not (shared.addresses.enter(self._address) and shared.has_room()):
            self._refuse(503)

    @property
    def _address(self) -> str:
        return str(self._client[0]) if self._client else ""

    def data_received(self, data: bytes) -> None:
        between = self._between
        request = self._repeated.request_in(data) if between else None
        if request is not None:
            scope, body = request
            self._enter(Exchange(self, scope, Body(self.read_on, body)))
            return
        self._parsed = None
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            self._refuse(400)
        except httptools.HttpParserError:
            self._refuse(400)
        else:
            if between and self._between and self._parsed is not None:
                self._repeated.learn(data, self._parsed)

    def pause_writing(self) -> None:
        self.writable = self.shared.loop.create_future()

    def resume_writing(self) -> None:
        if self.writable is not None:
            self.writable.set_result(None)
            self.writable = None

    def connection_lost(self, error: Exception | None) -> None:
        self.shared.connections.discard(self)
        self.shared.addresses.leave(self._address)
        del self._parser  # it holds us: nothing is left for the collector of cycles
        self.resume_writing()
        for exchange in (self._current, *self._waiting):
            if exchange is not None:
                exchange.lost()

    # -- events of the parser ----------------------------------------------------------

    def on_message_begin(self) -> None:
        self._between = False
        self._since = self.shared.loop.time()
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
        path, raw_path, query = _split(self._url)
        scope: Scope = {
            "type": "http",
            "asgi": _ASGI,
            "http_version": self._parser.get_http_version(),
            "method": self._parser.get_method().decode("ascii"),
            "path": path,
            "raw_path": raw_path,
            "query_string": query,
            "root_path": "",
            "headers": self._headers,
            "client": self._client,
            HEAD: read_head(self._headers),
        }
        self._since = self.shared.loop.time()
        keep = self._parser.should_keep_alive()
        self._parsed = {**scope} if keep else None
        self._arriving = Exchange(self, scope, Body(self.read_on), keep_alive=keep)
        if scope[HEAD].headers.get("expect", "").lower() == "100-continue":
            self._arriving.wait_for_go_ahead()
        self._enter(self._arriving)

    def on_body(self, body: bytes) -> None:
        if self._arriving is not None and self._arriving.body.feed(body) > BODY_HIGH_WATER:
            self._pause()

    def on_message_complete(self) -> None:
        if self._arriving is not None:
            self._arriving.body.complete()
            self._arriving = None
        self._between = True

    # -- the exchange that is being answered -------------------------------------------

    def _enter(self, exchange: Exchange) -> None:
        if self._current is None:
            self._begin(exchange)
            return
        self._waiting.append(exchange)
        if len(self._waiting) >= MOST_PIPELINED:
            self._pause()

    def _begin(self, exchange: Exchange) -> None:
        self._current = exchange
        shared = self.shared
        exchange.task = task = shared.loop.create_task(exchange.run(shared.app))
        shared.tasks.add(task)

    def finished(self, exchange: Exchange, *, keep: bool) -> None:
        """The current exchange is over: go on with the next one, or close."""
        shared = self.shared
        shared.tasks.discard(exchange.task)
        self._current = None
        self.last_active = shared.loop.time()
        if not keep or (shared.closing and not self._waiting):
            self._transport.close()
        elif self._waiting:
            self._since = self.last_active
            self._begin(self._waiting.popleft())
            self.read_on()

    def write(self, data: bytes) -> None:
        self._transport.write(data)

    def _pause(self) -> None:
        self._paused = True
        self._transport.pause_reading()

    def read_on(self) -> None:
        if self._paused and not self._transport.is_closing():
            self._paused = False
            self._transport.resume_reading()

    @property
    def idle(self) -> bool:
        waits = self._current is None and not self._waiting
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
        """What of a request is here; a body that nobody reads is not its client's fault."""
        if self._arriving is None:
            return patience.head
        read = self._arriving is self._current and not self._paused
        return patience.body if read else math.inf

    def close(self) -> None:
        self._transport.close()

    def abort(self) -> None:
        self._transport.abort()

    def _refuse(self, status: int) -> None:
        """Not HTTP that we understand: say so, if nothing is being said, and hang up."""
        silent = self._current is None or not self._current.begun
        if silent and not self._transport.is_closing():
            self.write(status_line(status) + b"content-length: 0\r\nconnection: close\r\n\r\n")
        self._transport.close()


@lru_cache(maxsize=64)
def _split(url: bytes) -> tuple[str, bytes, bytes]:
    """The path decoded, the path as sent, and the query."""
    parts = httptools.parse_url(url)
    path: bytes = parts.path or b"/"
    text = path.decode("latin-1")
    return unquote(text) if "%" in text else text, path, parts.query or b""


class Exchange:
    """One request and its response, as ASGI sees them."""

    task: asyncio.Task[None]  # set when it is begun

    def __init__(
        self, connection: Connection, scope: Scope, body: Body, *, keep_alive: bool = True
    ) -> None:
        self._connection = connection
        self._scope = scope
        self._keep = keep_alive
        self.body = body
        self._left_is_cancelled = False
        scope[CANCEL_WHEN_LEFT] = self._cancel_when_left
        self._start: Message | None = None
        self.begun = False
        self._chunked = False
        self._done = False

    def wait_for_go_ahead(self) -> None:
        """Its client asks first, and sends the body once it is told to."""
        self.body.go_ahead = self._continue

    def lost(self) -> None:
        self.body.lost()
        if self._left_is_cancelled:
            self.task.cancel()

    def _cancel_when_left(self) -> None:
        self._left_is_cancelled = True
        if self.body.gone:
            self.task.cancel()

    async def run(self, app: AsgiApp) -> None:
        try:
            await app(self._scope, self.body, self)
        except Exception:
            log.exception("a request handler failed")
        except asyncio.CancelledError:
            if not (self._left_is_cancelled and self.body.gone):
                raise
        finally:
            self._end()

    def _end(self) -> None:
        if not self._done and not self.body.gone:
            self._fail()
        # Nothing is left for the collector of cycles.
        del self._scope[CANCEL_WHEN_LEFT]
        self.body.go_ahead = None
        self._connection.finished(self, keep=self._keep and self.body.whole and self._done)

    def _continue(self) -> None:
        """Tell a client that asked first to go ahead with its body."""
        if not self.begun:
            self._connection.write(b"HTTP/1.1 100 Continue\r\n\r\n")

    # -- the response ------------------------------------------------------------------

    async def __call__(self, message: Message) -> None:
        """ASGI's `send`."""
        if message["type"] == "http.response.start":
            self._start = message
            return
        if self.body.gone or self._done or self._start is None:
            return
        body, more = message.get("body", b""), message.get("more_body", False)
        self._connection.write(self._framed(body, more))
        self._done = not more
        if self._connection.writable is not None:
            await self._connection.writable

    def at_once(
        self, status: int, headers: tuple[Header, ...], body: bytes
    ) -> asyncio.Future[None] | None:
        """A whole response; what there is to be awaited before more is written."""
        if self.body.gone or self._done or self._start is not None:
            return None
        connection = self._connection
        shared = connection.shared
        if shared.closing or not self.body.whole:
            self._keep = False
        self.begun = self._done = True
        head = shared.head(status, headers)
        end = _KEEP if self._keep else _CLOSE
        said = b"" if self._scope["method"] == "HEAD" else body
        connection.write(b"".join((head, b"%d\r\n" % len(body), end, said)))
        return connection.writable

    def _framed(self, body: bytes, more: bool) -> bytes:
        """The head before the first part; chunk marks where the length is not known."""
        head = b"" if self.begun else self._head(len(body), more)
        self.begun = True
        if self._scope["method"] == "HEAD":
            return head
        if not self._chunked:
            return head + body
        chunk = b"%x\r\n%b\r\n" % (len(body), body) if body else b""
        return head + chunk + (b"" if more else _LAST_CHUNK)

    def _head(self, length: int, more: bool) -> bytes:
        start = self._start
        assert start is not None
        status = start["status"]
        headers = start.get("headers", ())
        unknown = not any(name == b"content-length" for name, _ in headers)
        self._chunked = more and unknown
        if self._connection.shared.closing or not self.body.whole:
            self._keep = False
        head = [status_line(status), self._connection.shared.date, lines(tuple(headers))]
        if self._chunked:
            head.append(self._chunk_header())
        elif unknown and status not in _BODILESS:
            head.append(b"content-length: %d\r\n" % length)
        head.append(_KEEP if self._keep else _CLOSE)
        return b"".join(head)

    def _chunk_header(self) -> bytes:
        """HTTP/1.0 knows no chunks: there the end of the connection ends the body."""
        if self._scope["http_version"] == "1.1":
            return b"transfer-encoding: chunked\r\n"
        self._chunked = self._keep = False
        return b""

    def _fail(self) -> None:
        """The app ended without an answer: say that, or cut off what it began."""
        if self.begun:
            self._connection.abort()
            return
        self._start = None
        self.at_once(500, (), b"")
