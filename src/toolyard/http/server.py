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
    """What all connections share: who answers, heads, limits, who is connected."""

    responder: Responder
    loop: asyncio.AbstractEventLoop
    date: bytes = b""
    closing: bool = False
    patience: Patience = field(default_factory=Patience)
    connections: set[ServerConnection] = field(default_factory=set)
    tasks: set[asyncio.Task[None]] = field(default_factory=set)
    # The heads of whole responses, up to their Content-Length; good for this second.
    _heads: dict[tuple[int, tuple[Header, ...]], bytes] = field(default_factory=dict)
    most: int = 0
    addresses: Addresses = field(init=False)

    def __post_init__(self) -> None:
        self.most, self.addresses = self.patience.most, Addresses(self.patience.per_address)

    def tick(self, now: str) -> None:
        self.date = f"date: {now}\r\n".encode()
        self._heads.clear()

    def has_room(self) -> bool:
        """For the connection just made; the one that has been idle longest makes way for it."""
        if len(self.connections) <= self.most:
            return True
        idle = [connection for connection in self.connections if connection.idle]
        if len(idle) < 2:  # the new one is idle as well
            return False
        min(idle, key=lambda connection: connection.last_active).close()
        return True

    def head(self, status: int, headers: tuple[Header, ...]) -> bytes:
        head = self._heads.get((status, headers))
        if head is not None:
            return head
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
    wind_down: Callable[[], Awaitable[None]],
    grace: float,
    patience: Patience = PATIENCE,
) -> None:
    """Serve until SIGINT or SIGTERM, then let running requests finish."""
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    _spare_the_collector()
    server = HttpServer(responder, loop, patience=patience)
    ticker = loop.create_task(_tick(server))
    listener = await loop.create_server(lambda: ServerConnection(server), sock=sock)
    try:
        await stop.wait()
    finally:
        listener.close()
        await _finish(server, wind_down, grace)
        ticker.cancel()


def _spare_the_collector() -> None:
    """What is loaded by now stays: scanning it again and again costs a busy server 5 %."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 10, 10)


async def _finish(
    server: HttpServer, wind_down: Callable[[], Awaitable[None]], grace: float
) -> None:
    server.closing = True
    for connection in tuple(server.connections):
        if connection.idle:
            connection.close()
    await wind_down()
    if server.tasks:
        await asyncio.wait(tuple(server.tasks), timeout=grace)
    for connection in tuple(server.connections):
        connection.abort()
    running = tuple(server.tasks)
    for task in running:
        task.cancel()
    await asyncio.gather(*running, return_exceptions=True)


async def _tick(server: HttpServer) -> None:
    """Once a second: renew the Date header, and hang up on clients that are too slow."""
    while True:
        server.tick(formatdate(usegmt=True))
        now = server.loop.time()
        for connection in tuple(server.connections):
            connection.hurry(now, server.patience)
        await asyncio.sleep(TICK)
