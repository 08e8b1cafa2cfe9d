"""The response to one request: whole in one write, or started and written part by part.

Nothing is sent before there is something to send: `start` only keeps the head, which goes out
with the first part. What is written to a client that has left is dropped silently.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import lru_cache
from http import HTTPStatus
from time import gmtime, strftime
from typing import TYPE_CHECKING, TypeAlias

from toolyard.http.headers import Header

if TYPE_CHECKING:
    import asyncio

    from toolyard.http.request import Request
    from toolyard.http.serving.connection import ServerConnection

# What answers the requests to a server.
Responder: TypeAlias = "Callable[[Request, Response], Awaitable[None]]"

_STATUS_LINES = {
    status.value: f"HTTP/1.1 {status.value} {status.phrase}\r\n".encode() for status in HTTPStatus
}
MOST_HEADS = 64
LONG = 32 * 1024  # from here on a copy costs more than a second part
_BODILESS = frozenset({204, 304})
_LAST_CHUNK = b"0\r\n\r\n"
_KEEP, _CLOSE = b"\r\n", b"connection: close\r\n\r\n"
# As HTTP wants it: names are English, because nobody here sets a locale for times.
_DATE = "%a, %d %b %Y %H:%M:%S GMT"


@lru_cache(maxsize=64)
def lines(headers: tuple[Header, ...]) -> bytes:
    return b"".join([b"%b: %b\r\n" % header for header in headers])


def status_line(status: int) -> bytes:
    return _STATUS_LINES.get(status) or b"HTTP/1.1 %d \r\n" % status


class ResponseHeads:
    """The heads of whole responses, up to their Content-Length; each is good for one second."""

    def __init__(self) -> None:
        self.date = b""
        self._heads: dict[tuple[int, tuple[Header, ...]], bytes] = {}

    def tick(self) -> None:
        self.date = f"date: {strftime(_DATE, gmtime())}\r\n".encode()
        self._heads.clear()

    def of(self, status: int, headers: tuple[Header, ...]) -> bytes:
        head = self._heads.get((status, headers))
        if head is not None:
            return head
        parts = (status_line(status), self.date, lines(headers), b"content-length: ")
        head = self._heads[status, headers] = b"".join(parts)
        if len(self._heads) > MOST_HEADS:
            self._heads.clear()
        return head


def whole(head: bytes, body: bytes) -> bytes:
    """A whole response on a connection that is kept; the head is one of `ResponseHeads`."""
    return b"".join((head, b"%d\r\n" % len(body), _KEEP, body))


class Response:
    """The answer to one request, while it is being written."""

    __slots__ = (
        "_cancels",
        "_chunked",
        "_connection",
        "_done",
        "_headers",
        "_keep",
        "_more",
        "_watchers",
        "begun",
        "request",
        "status",
        "task",
    )
    task: asyncio.Task[None]  # the one that answers; set when it starts

    def __init__(
        self, connection: ServerConnection, request: Request, *, keep_alive: bool = True
    ) -> None:
        self._connection = connection
        self.request = request
        self._keep = keep_alive
        self._cancels = False  # when the client leaves
        self._more: tuple[Header, ...] = ()
        self._watchers: tuple[Callable[[int, bytes], None], ...] = ()
        self.status = 0  # until it is started
        self._headers: tuple[Header, ...] = ()
        self.begun = False  # its head is on its way
        self._chunked = False
        self._done = False

    # -- before it begins --------------------------------------------------------------

    def cancel_when_left(self) -> None:
        """From now on the request is cancelled, quietly, if its client leaves before the end.

        This is cheaper than a task that waits for the client to leave.
        """
        self._cancels = True
        if self.request.gone:
            self.task.cancel()

    def add(self, headers: tuple[Header, ...]) -> None:
        """Add these headers, whatever the answer will be."""
        self._more += headers

    def watch(self, watcher: Callable[[int, bytes], None]) -> None:
        """Have this called with the status and each part of the body before it is written."""
        self._watchers += (watcher,)

    # -- whole -------------------------------------------------------------------------

    async def send(self, status: int, body: bytes = b"", headers: tuple[Header, ...] = ()) -> None:
        drain = self.send_at_once(status, body, headers)
        if drain is not None:
            await drain

    def send_at_once(
        self, status: int, body: bytes, headers: tuple[Header, ...]
    ) -> asyncio.Future[None] | None:
        """Write a whole response; gives what to await before more is written, if anything."""
        request = self.request
        if request.gone or self._done or self.status:
            return None
        connection = self._connection
        server = connection.server
        if server.closing or not request.whole:
            self._keep = False
        self.status, self.begun, self._done = status, True, True
        if self._watchers:
            self._tell(body)
        head = server.heads.of(status, headers + self._more if self._more else headers)
        end = _KEEP if self._keep else _CLOSE
        content = b"" if request.head.method == "HEAD" else body
        if len(content) < LONG:
            connection.write(b"".join((head, b"%d\r\n" % len(body), end, content)))
        else:
            connection.write_parts((b"".join((head, b"%d\r\n" % len(body), end)), content))
        return connection.writable

    # -- part by part ------------------------------------------------------------------

    def start(self, headers: tuple[Header, ...], status: int = 200) -> None:
        self.status, self._headers = status, headers + self._more

    async def write(self, part: bytes) -> None:
        await self._write(part, more=True)

    async def end(self, part: bytes = b"") -> None:
        await self._write(part, more=False)

    async def _write(self, part: bytes, *, more: bool) -> None:
        if self.request.gone or self._done or not self.status:
            return
        if self._watchers:
            self._tell(part)
        self._connection.write(self._framed(part, more))
        self._done = not more
        if self._connection.writable is not None:
            await self._connection.writable

    def _tell(self, part: bytes) -> None:
        for watcher in self._watchers:
            watcher(self.status, part)

    def _framed(self, part: bytes, more: bool) -> bytes:
        """The part as it is sent: behind the head if it is the first, as a chunk if need be."""
        head = b"" if self.begun else self._head(len(part), more)
        self.begun = True
        if self.request.head.method == "HEAD":
            return head
        if not self._chunked:
            return head + part
        chunk = b"%x\r\n%b\r\n" % (len(part), part) if part else b""
        return head + chunk + (b"" if more else _LAST_CHUNK)

    def _head(self, length: int, more: bool) -> bytes:
        server = self._connection.server
        if server.closing or not self.request.whole:
            self._keep = False
        head = [status_line(self.status), server.heads.date, lines(self._headers)]
        if more:
            head.append(self._chunk_header())
        elif self.status not in _BODILESS:
            head.append(b"content-length: %d\r\n" % length)
        head.append(_KEEP if self._keep else _CLOSE)
        return b"".join(head)

    def _chunk_header(self) -> bytes:
        """HTTP/1.0 has no chunks: there the end of the connection ends the body."""
        self._chunked = self.request.head.version == "1.1"
        if self._chunked:
            return b"transfer-encoding: chunked\r\n"
        self._keep = False
        return b""

    # -- for the connection ------------------------------------------------------------

    def lost(self) -> None:
        """The client has left."""
        self.request.lost()
        if self._cancels:
            self.task.cancel()

    @property
    def abandoned(self) -> bool:
        """Was it cancelled because the client has left, as `cancel_when_left` asked?"""
        return self._cancels and self.request.gone

    def finish(self) -> bool:
        """Nothing more will be written; may the connection be kept for the next request?"""
        request = self.request
        if not self._done and not request.gone:
            self._fail()
        request.go_ahead = None  # without it there is no cycle to collect
        return self._keep and request.whole and self._done

    def _fail(self) -> None:
        """There was no answer: send an error, or cut off what was begun."""
        if self.begun:
            self._connection.abort()
            return
        self.status = 0
        self.send_at_once(500, b"", ())
