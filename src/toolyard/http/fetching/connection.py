"""The client's side of an HTTP/1.1 connection: a request out, its response in, then the next.

Between `send` and the next one a connection goes through these states, in this order:

* waiting: the request is written, and not one byte of an answer is here (`Broken.unanswered`)
* answered: bytes are here, the head is not whole yet; informational heads are dropped
* head done: status and headers are known, chunks of the body are taken as they come
* complete: all of the body is here, though some of it may still be buffered
* resting: given back to the client, which may send again if the peer allows that

Broken ends any of them, for good. If no length was sent, the end of the connection completes
the body.
"""

from __future__ import annotations

import asyncio
from collections import deque
from time import monotonic
from typing import NamedTuple, cast

import httptools

from toolyard.http.known_heads import KnownHead, learned

# An event stream that nobody reads must not fill the memory.
MAX_BUFFERED = 1024 * 1024
MAX_HEAD = 64 * 1024
COPIED = 64 * 1024  # up to here one copy is cheaper than a second write


class HttpError(Exception):
    """The exchange failed; the text says how."""


class Broken(HttpError):
    """The connection ended, or what came was not HTTP, before the answer was complete."""

    def __init__(self, reason: str, *, unanswered: bool = False) -> None:
        super().__init__(reason)
        self.unanswered = unanswered  # not one byte of the answer had come


class _ParsedHead(NamedTuple):
    head: KnownHead
    status: int
    headers: dict[str, str]
    length: bytes  # as the peer writes it


class Heads:
    """The latest head learned from a peer, shared by all connections to it.

    It changes every second with the date: if each of many connections learned it alone, most
    answers would be parsed.
    """

    __slots__ = ("latest",)

    def __init__(self) -> None:
        self.latest: _ParsedHead | None = None


class ClientConnection(asyncio.Protocol):
    """One connection to a server; see the head of this module for what happens on it."""

    def __init__(self, heads: Heads) -> None:
        self._transport: asyncio.Transport | None = None
        self._loop = asyncio.get_running_loop()
        self._wake: asyncio.Future[None] | None = None
        self._error: Broken | None = None
        self._rested_at: float | None = None
        self._parser = httptools.HttpResponseParser(self)
        self._heads = heads
        self._head: _ParsedHead | None = None
        self._chunks: deque[bytes] = deque()
        self._begin()

    def _begin(self) -> None:
        self.status = 0
        self.headers: dict[str, str] = {}
        self._head_size = 0
        self._head_done = self.complete = self._keep_alive = self._answered = False
        self._chunks.clear()
        self._buffered = 0
        self._paused = self._gathers = False
        self._left = 0  # bytes of the body that come past the parser

    # -- for the client ----------------------------------------------------------------

    def send(self, head: bytes, body: bytes) -> None:
        """Write a request; `answering` is done when the head of its response is here."""
        transport = self._transport
        assert transport is not None
        if self._rested_at is not None:
            self._begin()
            self._rested_at = None
        if len(body) < COPIED:
            transport.write(head + body)
        else:
            transport.writelines((head, body))

    def answering(self) -> asyncio.Future[None] | None:
        """Await this repeatedly until it is None: then the head is here."""
        return None if self._head_done else self._progress()

    async def chunk(self) -> bytes:
        while not self._chunks:
            if self.complete:
                return b""
            await self._progress()
        chunk = self._chunks.popleft()
        self._buffered -= len(chunk)
        self._read_on()
        return chunk

    async def chunks(self) -> bytes:
        """As many as may be buffered, or all that are left: nobody is woken for fewer."""
        self._gathers = True
        while not self.complete and self._buffered <= MAX_BUFFERED:
            await self._progress()
        self._gathers = False
        body = b"".join(self._chunks)
        self._chunks.clear()
        self._buffered = 0
        self._read_on()
        return body

    def _read_on(self) -> None:
        if self._paused and self._buffered < MAX_BUFFERED and self._transport is not None:
            self._paused = False
            self._transport.resume_reading()

    def last_chunk(self) -> bytes | None:
        """What is left of the body, if all of it is here in one piece."""
        if not self.complete or len(self._chunks) > 1:
            return None
        body = self._chunks.popleft() if self._chunks else b""
        self._buffered = 0
        return body

    @property
    def buffered(self) -> bool:
        return bool(self._chunks)

    @property
    def reusable(self) -> bool:
        return self.complete and self._keep_alive and self._error is None

    def rest(self) -> None:
        self._rested_at = monotonic()

    @property
    def rested_at(self) -> float:
        return self._rested_at or 0.0

    def usable(self, idle: float) -> bool:
        """Still open, and not idle for so long that the peer may be about to close it."""
        if self._error is not None or self._transport is None or self._transport.is_closing():
            return False
        return self._rested_at is None or monotonic() - self._rested_at < idle

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def _progress(self) -> asyncio.Future[None]:
        """Await this: it is done when something has arrived, or nothing more will."""
        if self._error is not None:
            raise self._error
        self._wake = self._loop.create_future()
        return self._wake

    def _stir(self) -> None:
        if self._wake is not None and not self._wake.done():
            self._wake.set_result(None)

    # -- from the transport ------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's is not a subclass

    def data_received(self, data: bytes) -> None:
        is_first, self._answered = not self._answered, True
        if is_first and (self._is_known(data, self._head) or self._is_known_to_others(data)):
            self._stir()
            return
        if self._left:
            data = self._take_more(data)
        elif is_first and self._begins(data):
            data = b""
        if not data:
            self._grown()
            return
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError:
            self._break("the answer is not HTTP")
            return
        if is_first and self.reusable and self.status >= 200:
            self._learn(data)
        if not self._head_done:
            self._head_size += len(data)
            if self._head_size > MAX_HEAD:
                self._break("the head of the answer is too long")
        self._grown()

    def _grown(self) -> None:
        """There is more than before: hold the peer up if it is too much, wake who waits for it."""
        if self._buffered > MAX_BUFFERED and not self._paused and self._transport is not None:
            self._paused = True
            self._transport.pause_reading()
        if not self._gathers or self.complete or self._buffered > MAX_BUFFERED:
            self._stir()

    def _is_known_to_others(self, data: bytes) -> bool:
        head = self._heads.latest
        if head is self._head or not self._is_known(data, head):
            return False
        self._head = head
        return True

    def _is_known(self, data: bytes, head: _ParsedHead | None) -> bool:
        """Is this a whole answer with a head that came before? Then take it."""
        whole = head.head.whole(data) if head is not None else None
        if head is None or whole is None:
            return False
        self.status = head.status
        self.headers = head.headers
        if whole.length != head.length:
            self.headers = {**head.headers, "content-length": whole.length.decode("latin-1")}
        self._head_done = self.complete = self._keep_alive = True
        if whole.body:
            self._chunks.append(whole.body)
            self._buffered = len(whole.body)
        return True

    def _begins(self, data: bytes) -> bool:
        """Is this an answer with a head that came before, and more of its body is to come?"""
        for head in (self._head, self._heads.latest):
            begun = head.head.begun(data) if head is not None else None
            if head is not None and begun is not None:
                length = begun.length.decode("latin-1")
                self.status, self.headers = head.status, {**head.headers, "content-length": length}
                self._head_done = self._keep_alive = True
                self._left = begun.left
                if begun.body:  # an empty chunk would be the end
                    self.on_body(begun.body)
                return True
        return False

    def _take_more(self, data: bytes) -> bytes:
        """What comes is body until there is all of it; gives what comes after that."""
        body = data[: self._left] if len(data) > self._left else data
        self._left -= len(body)
        self.on_body(body)
        self.complete = not self._left
        return data[len(body) :]

    def _learn(self, data: bytes) -> None:
        head = learned(data, list(self.headers))
        self._head = None
        if head is not None:
            length = self.headers["content-length"].encode("latin-1")
            self._head = self._heads.latest = _ParsedHead(head, self.status, self.headers, length)

    def connection_lost(self, exc: Exception | None) -> None:
        # Without a length the end of the connection is the end of the body.
        if self._head_done and not self.complete and not self._has_length() and exc is None:
            self.complete = True
        del self._parser  # it refers to us: without it there is no cycle to collect
        self._break("the connection was closed")

    def _has_length(self) -> bool:
        return "content-length" in self.headers or "transfer-encoding" in self.headers

    def _break(self, reason: str) -> None:
        if self._error is None:
            self._error = Broken(reason, unanswered=not self._answered)
        self._stir()
        self.abort()

    # -- from the parser ---------------------------------------------------------------

    def on_header(self, name: bytes, value: bytes) -> None:
        key, text = name.decode("latin-1").lower(), value.decode("latin-1")
        self.headers[key] = f"{self.headers[key]}, {text}" if key in self.headers else text

    def on_headers_complete(self) -> None:
        self.status = self._parser.get_status_code()
        if self.status >= 200:
            self._head_done = True
            self._keep_alive = self._parser.should_keep_alive()

    def on_body(self, body: bytes) -> None:
        self._chunks.append(body)
        self._buffered += len(body)

    def on_message_complete(self) -> None:
        if not self._head_done:
            self.headers = {}  # an informational response; the real one follows
            return
        self.complete = True
        self._keep_alive = self._keep_alive and self._parser.should_keep_alive()
