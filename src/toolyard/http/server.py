"""Answer the requests on a socket until told to stop. Knows no MCP."""

from __future__ import annotations

import asyncio
import gc
import signal
import socket
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from email.utils import formatdate

from toolyard.http.headers import Header
from toolyard.http.patience import Addresses, Patience
from toolyard.http.response import Responder, lines, status_line
from toolyard.http.server_connection import ServerConnection

TICK = 1.0
MOST_HEADS = 64
PATIENCE = Patience()


@dataclass(slots=True)
class HttpServer:
    """What all connections have in common: who answers, heads, limits, who is connected."""

    responder: Responder
    loop: asyncio.AbstractEventLoop
    date: bytes = b""
    closing: bool = False
    patience: Patience = field(default_factory=Patience)
    connections: set[ServerConnection] = field(default_factory=set)
    tasks: set[asyncio.Task[None]] = field(default_factory=set)
    # Of whole responses, up to the number of bytes, of this second.
    _heads: dict[tuple[int, tuple[Header, ...]], bytes] = field(default_factory=dict)
    most: int = 0
    addresses: Addresses = field(init=False)

    def __post_init__(self) -> None:
        self.most, self.addresses = self.patience.most, Addresses(self.patience.per_address)

    def tick(self, now: str) -> None:
        self.date = f"date: {now}\r\n".encode()
        self._heads.clear()

    def has_room(self) -> bool:
        """For the connection that has just been made; the longest idle one makes way for it."""
        if len(self.connections) <= self.most:
            return True
        idle = [connection for connection in self.connections if connection.idle]
        if len(idle) < 2:  # the new one is idle as well
            return False
        min(idle, key=lambda connection: connection.last_active).close()
        return True

    def head(self, status: int, headers: tuple[Header, ...]) -> bytes:
        known = self._heads.get((status, headers))
        if known is not None:
            return known
        parts = (status_line(status), self.date, lines(headers), b"content-length: ")
        head = self._heads[status, headers] = b"".join(parts)
        if len(self._heads) > MOST_HEADS:
            self._heads.clear()
        return head


def listen(host: str, port: int) -> socket.socket:
    """A listening socket; port 0 takes a free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # The protocol is named because event loops look at it before they set TCP_NODELAY.
    sock = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.bind((host, port))
        sock.listen(1024)
    except OSError:
        sock.close()
        raise
    sock.setblocking(False)
    return sock


async def serve(
    responder: Responder,
    sock: socket.socket,
    stopping: Callable[[], Awaitable[None]],
    grace: float,
    patience: Patience = PATIENCE,
) -> None:
    """Serve until SIGINT or SIGTERM, then let running requests finish."""
    loop = asyncio.get_running_loop()
    told = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, told.set)
    _spare_the_collector()
    server = HttpServer(responder, loop, patience=patience)
    ticking = loop.create_task(_tick(server))
    listening = await loop.create_server(lambda: ServerConnection(server), sock=sock)
    try:
        await told.wait()
    finally:
        listening.close()
        await _finish(server, stopping, grace)
        ticking.cancel()


def _spare_the_collector() -> None:
    """What is loaded by now stays: looking at it again and again takes 5 % of a busy server."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 10, 10)


async def _finish(
    server: HttpServer, stopping: Callable[[], Awaitable[None]], grace: float
) -> None:
    server.closing = True
    for connection in tuple(server.connections):
        if connection.idle:
            connection.close()
    await stopping()
    if server.tasks:
        await asyncio.wait(tuple(server.tasks), timeout=grace)
    for connection in tuple(server.connections):
        connection.abort()
    running = tuple(server.tasks)
    for task in running:
        task.cancel()
    await asyncio.gather(*running, return_exceptions=True)


async def _tick(server: HttpServer) -> None:
    """Once a second: the Date header, and connections that keep us waiting."""
    while True:
        server.tick(formatdate(usegmt=True))
        now = server.loop.time()
        for connection in tuple(server.connections):
            connection.hurry(now, server.patience)
        await asyncio.sleep(TICK)
