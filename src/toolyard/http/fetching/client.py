"""A small keep-alive HTTP/1.1 client: no more of HTTP than MCP needs. Knows nothing about MCP.

Connections are kept for reuse by where they lead (scheme, host, port). There may be so many in
all: past that a request waits for a connection that somebody gives back, or for the place of one
that is gone. Whoever waits longest gets the place.
"""

from __future__ import annotations

import asyncio
import os
import socket
import ssl
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias
from urllib.parse import urljoin, urlsplit

from toolyard.http.fetching.connection import Broken, ClientConnection, Heads, HttpError

CONNECT_TIMEOUT = 10.0
ATTEMPT_TIMEOUT = 3.0  # for each address of a host but the last
# So many are kept until the next request, however late; more only for IDLE_SECONDS.
MAX_IDLE = 16
MAX_OPEN = 2048  # whoever needs one more waits
# Common servers drop an idle connection after 5 s; a request must not meet that moment.
IDLE_SECONDS = 3.0

# Connects to a host and port; replaced if the address must be checked before it is dialled.
Dial: TypeAlias = Callable[[str, int], Awaitable[socket.socket]]


# Somebody who waits for one of these idle connections to be free, or (None) for room to open one.
_Waiter: TypeAlias = tuple[list[ClientConnection], "asyncio.Future[ClientConnection | None]"]


class CannotReach(HttpError):
    """Nothing was sent: there is no connection."""


class ResponseTooLarge(Broken):
    """The body has more bytes than the reader wants."""


class Url(NamedTuple):
    """An http(s) URL, with the parts that a request needs."""

    scheme: str
    host: str
    port: int
    target: str  # path and query
    text: str
    origin: tuple[str, str, int]
    host_header: str

    @classmethod
    def parse(cls, text: str) -> Url:
        parts = urlsplit(text)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"{text} is not an http(s) URL")
        port = parts.port or (443 if parts.scheme == "https" else 80)
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        origin = parts.scheme, parts.hostname, port
        return cls(*origin, target, text, origin, _host_header(*origin))

    def join(self, reference: str) -> Url:
        return Url.parse(urljoin(self.text, reference))


def _host_header(scheme: str, host: str, port: int) -> str:
    host = f"[{host}]" if ":" in host else host
    return host if port == (443 if scheme == "https" else 80) else f"{host}:{port}"


class ClientResponse:
    """A response whose head has arrived; the body comes as it is read. Must be closed."""

    def __init__(
        self,
        connection: ClientConnection,
        idle: list[ClientConnection],
        release: Callable[[ClientConnection, list[ClientConnection]], None],
    ) -> None:
        self._connection = connection
        self._idle = idle  # where the connection waits for its next request
        self._release = release
        self._closed = False
        self.status = connection.status
        self.headers = connection.headers

    @property
    def complete(self) -> bool:
        return self._connection.complete and not self._connection.buffered

    @property
    def content_type(self) -> str:
        return media_type(self.headers.get("content-type", ""))

    async def chunk(self) -> bytes:
        """Some of the body; empty at its end. Raises Broken if it was cut off."""
        return await self._connection.chunk()

    def at_hand(self, limit: int) -> bytes | None:
        """The whole body, if it is here already."""
        body = self._connection.last_chunk()
        if body is not None:
            _check_size(body, limit)
        return body

    async def read(self, limit: int) -> bytes:
        whole = self.at_hand(limit)
        if whole is not None:
            return whole
        first = await self._connection.chunks()
        _check_size(first, limit)
        if self.complete:
            return first
        body = bytearray(first)
        while more := await self._connection.chunks():
            body += more
            _check_size(body, limit)
        return body  # type: ignore[return-value] # as good as bytes, and not copied

    def close(self) -> None:
        """Give the connection back if all of the body was received; else cut it."""
        if not self._closed:
            self._closed = True
            self._release(self._connection, self._idle)


@lru_cache(maxsize=64)
def media_type(content_type: str) -> str:
    return content_type.partition(";")[0].strip().lower()


def _check_size(body: bytes | bytearray, limit: int) -> None:
    if len(body) > limit:
        raise ResponseTooLarge("the answer is too big")


class HttpClient:
    """Sends requests over connections that it keeps, and counts."""

    def __init__(
        self,
        dial: Dial | None = None,
        tls: ssl.SSLContext | None = None,
        most: int = MAX_OPEN,
    ) -> None:
        self._dial = dial or connected
        self._tls = tls
        self._most = most
        self._idle: dict[tuple[str, str, int], list[ClientConnection]] = {}
        self._heads: dict[tuple[str, str, int], Heads] = {}
        self._open: set[ClientConnection] = set()
        self._places = 0  # taken by open connections, and by those that are being opened
        self._waiters: deque[_Waiter] = deque()
        self._sweeper: asyncio.TimerHandle | None = None

    async def request(
        self,
        method: str,
        url: Url,
        headers: Mapping[str, str],
        body: bytes = b"",
        lines: bytes = b"",
    ) -> ClientResponse:
        """Send a request and wait for the head of the response. For `lines` see `encode_head`."""
        head = encode_head(method, url, headers, body, lines)
        idle = self._idle.get(url.origin)
        if idle is None:
            idle = self._idle[url.origin] = []
        connection = self._take(idle) or await self._connection(url, idle)
        try:
            connection.send(head, body)
            while (progress := connection.answering()) is not None:
                await progress
        except BaseException:
            self._discard(connection)
            raise
        return ClientResponse(connection, idle, self._give_back)

    def _take(self, idle: list[ClientConnection]) -> ClientConnection | None:
        while idle:
            connection = idle.pop()
            if connection.usable(IDLE_SECONDS):
                return connection
            self._discard(connection)
        return None

    async def _connection(self, url: Url, idle: list[ClientConnection]) -> ClientConnection:
        """A new connection, or if there is no room for one, the next that is free."""
        if self._places >= self._most and not self._drop_oldest():
            connection = await self._free_connection(idle)
            if connection is not None:
                return connection
        else:
            self._places += 1
        try:
            return await self._connect(url)
        except BaseException:
            self._leave()
            raise

    async def _free_connection(self, idle: list[ClientConnection]) -> ClientConnection | None:
        """A connection that somebody gives back; None: the place of one that is gone."""
        future: asyncio.Future[ClientConnection | None] = asyncio.get_running_loop().create_future()
        self._waiters.append((idle, future))
        try:
            async with asyncio.timeout(CONNECT_TIMEOUT):
                return await future
        except TimeoutError:
            self._return(future, idle)
            raise CannotReach(f"{self._most} connections are in use already") from None
        except asyncio.CancelledError:
            self._return(future, idle)
            raise

    def _return(
        self, future: asyncio.Future[ClientConnection | None], idle: list[ClientConnection]
    ) -> None:
        """Pass on what was given to somebody who has just stopped waiting."""
        if future.cancelled() or not future.done():
            return
        connection = future.result()
        if connection is None:
            self._leave()
        else:
            self._give_back(connection, idle)

    async def _connect(self, url: Url) -> ClientConnection:
        connection = ClientConnection(self._heads.setdefault(url.origin, Heads()))
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(CONNECT_TIMEOUT):
                context = await self._context() if url.scheme == "https" else None
                name = url.host if context else None
                sock = await self._dial(url.host, url.port)
                await loop.create_connection(
                    lambda: connection, sock=sock, ssl=context, server_hostname=name
                )
        except TimeoutError:
            raise CannotReach(f"no connection to {url.host_header} in time") from None
        except OSError as error:
            raise CannotReach(f"cannot connect to {url.host_header}: {_why(error)}") from None
        self._open.add(connection)
        return connection

    async def _context(self) -> ssl.SSLContext:
        if self._tls is None:
            # Reads every certificate of the system: not on the loop.
            self._tls = await asyncio.to_thread(ssl.create_default_context)
        return self._tls

    def _give_back(self, connection: ClientConnection, idle: list[ClientConnection]) -> None:
        if not connection.reusable:
            self._discard(connection)
            return
        if self._waiters:
            if not self._hand_over(connection, idle):
                self._discard(connection)  # its place goes to whoever waits
            return
        connection.rest()
        idle.append(connection)
        if len(idle) > MAX_IDLE and self._sweeper is None:
            self._sweep_later()

    def _hand_over(self, connection: ClientConnection, idle: list[ClientConnection]) -> bool:
        """Give it to whoever waits for a connection to the same place."""
        for number, (pool, future) in enumerate(self._waiters):
            if pool is idle and not future.done():
                del self._waiters[number]
                connection.rest()
                future.set_result(connection)
                return True
        return False

    def _discard(self, connection: ClientConnection) -> None:
        if connection in self._open:
            self._open.remove(connection)
            self._leave()
        connection.abort()

    def _leave(self) -> None:
        """A place is free: give it to whoever has waited longest."""
        while self._waiters:
            _, future = self._waiters.popleft()
            if not future.done():
                future.set_result(None)
                return
        self._places -= 1

    def _drop_oldest(self) -> bool:
        """Close the connection that has been idle longest: another server may need its place."""
        pools = [idle for idle in self._idle.values() if idle]
        if not pools:
            return False
        self._discard(min(pools, key=lambda idle: idle[0].rested_at).pop(0))
        return True

    def _sweep_later(self) -> None:
        self._sweeper = asyncio.get_running_loop().call_later(IDLE_SECONDS, self._sweep)

    def _sweep(self) -> None:
        """After a rush: keep only a few idle connections to each place."""
        self._sweeper = None
        for idle in self._idle.values():
            while len(idle) > MAX_IDLE and not idle[0].usable(IDLE_SECONDS):
                self._discard(idle.pop(0))
            if len(idle) > MAX_IDLE and self._sweeper is None:
                self._sweep_later()

    async def close(self) -> None:
        if self._sweeper is not None:
            self._sweeper.cancel()
            self._sweeper = None
        for connection in tuple(self._open):
            self._discard(connection)
        self._idle.clear()
        await asyncio.sleep(0)  # let the transports report that they are closed


def encode_head(
    method: str, url: Url, headers: Mapping[str, str], body: bytes, lines: bytes = b""
) -> bytes:
    """`lines`: headers that no other request has, encoded and checked, each after a line break.

    The others are remembered as they are encoded.
    """
    head = _encode_head(method, url, tuple(headers.items()))
    if body or method == "POST":
        return b"%b%b\r\nContent-Length: %d\r\n\r\n" % (head, lines, len(body))
    return b"%b%b\r\n\r\n" % (head, lines)


@lru_cache(maxsize=64)  # an upstream is sent the same head again and again
def _encode_head(method: str, url: Url, headers: tuple[tuple[str, str], ...]) -> bytes:
    lines = [f"{method} {url.target} HTTP/1.1", f"Host: {url.host_header}"]
    lines += [f"{name}: {value}" for name, value in headers]
    head = "\r\n".join(lines)
    breaks = len(lines) - 1
    if head.count("\r") != breaks or head.count("\n") != breaks or "\0" in head:
        raise CannotReach("a header holds a line break")
    try:
        return head.encode("latin-1")
    except UnicodeEncodeError:
        raise CannotReach("a header or the URL holds characters that HTTP cannot carry") from None


async def connected(host: str, port: int) -> socket.socket:
    """A socket to the first address of the host that answers."""
    loop = asyncio.get_running_loop()
    infos = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return await first_connected([(family, address) for family, *_, address in infos])


async def first_connected(places: Sequence[tuple[int, Any]]) -> socket.socket:
    """A socket to the first of these that answers: pairs of a family and an address of it."""
    loop = asyncio.get_running_loop()
    for position, (family, address) in enumerate(places, 1):
        # The protocol is named because event loops look at it before they set TCP_NODELAY.
        sock = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        sock.setblocking(False)
        is_last = position == len(places)
        try:
            async with asyncio.timeout(None if is_last else ATTEMPT_TIMEOUT):
                await loop.sock_connect(sock, address)
            return sock
        except (OSError, TimeoutError):
            sock.close()
            if is_last:
                raise
        except BaseException:
            sock.close()
            raise
    raise OSError("the host has no address")


def _why(error: OSError) -> str:
    """In the system's words: event loops have their own for a connection that is refused."""
    if error.errno and (error.strerror or "").startswith("Connect call failed"):
        return os.strerror(error.errno)
    return error.strerror or str(error) or type(error).__name__
