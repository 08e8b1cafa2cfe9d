"""Answer the requests on a socket until told to stop. Knows no MCP."""

from __future__ import annotations

import asyncio
import gc
import signal
import socket
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

from toolyard.http.response import Responder, ResponseHeads
from toolyard.http.serving.connection import ServerConnection
from toolyard.http.serving.continued import Continued
from toolyard.http.serving.listening import BACKLOG, Earlier
from toolyard.http.serving.patience import Addresses, Patience

TICK = 1.0
PATIENCE = Patience()


@dataclass(slots=True)
class HttpServer:
    """What all connections share: who answers, heads, limits, who is connected."""

    responder: Responder
    loop: asyncio.AbstractEventLoop
    closing: bool = False
    patience: Patience = field(default_factory=Patience)
    connections: dict[ServerConnection, None] = field(default_factory=dict)  # in their order
    tasks: set[asyncio.Task[None]] = field(default_factory=set)
    heads: ResponseHeads = field(default_factory=ResponseHeads)
    most: int = 0
    addresses: Addresses = field(init=False)

    def __post_init__(self) -> None:
        self.most, self.addresses = self.patience.most, Addresses(self.patience.per_address)

    def has_room(self) -> bool:
        """For the connection just made; the one that has been idle longest makes way for it."""
        if len(self.connections) <= self.most:
            return True
        idle = [connection for connection in self.connections if connection.idle]
        if len(idle) < 2:  # the new one is idle as well
            return False
        # Many may come at the same moment: of those the first, and never the new one.
        min(idle, key=lambda connection: connection.last_active).close()
        return True


class Entrance(Protocol):
    """How connections come in."""

    async def open(self, make: Callable[[], ServerConnection], held: Callable[[], int]) -> None:
        """Make one for each that comes; `held` says how many there are."""

    def close(self) -> None:
        """No more come; those that are here stay."""


class OwnSocket:
    """A listening socket that no other process has; `earlier` gives what was accepted on it."""

    def __init__(
        self, sock: socket.socket, earlier: Callable[[], Sequence[Earlier]] = tuple
    ) -> None:
        self.sock = sock
        self._earlier = earlier
        self._listener: asyncio.AbstractServer | None = None

    async def open(self, make: Callable[[], ServerConnection], held: Callable[[], int]) -> None:
        loop = asyncio.get_running_loop()
        for connection in self._earlier():
            continued = partial(Continued, make().server, connection)
            with suppress(OSError):  # the client has left already
                await loop.connect_accepted_socket(continued, connection.sock)
        # Named here as well: a loop listens anew, and lets no more than 100 wait by itself.
        if self.sock.family == socket.AF_UNIX:
            opening = loop.create_unix_server(make, sock=self.sock, backlog=BACKLOG)
        else:
            opening = loop.create_server(make, sock=self.sock, backlog=BACKLOG)
        self._listener = await opening

    def close(self) -> None:
        if self._listener is not None:
            self._listener.close()


@dataclass(frozen=True, slots=True)
class Door:
    """A place where requests come in, and who answers them."""

    responder: Responder
    entrance: Entrance
    patience: Patience = PATIENCE


def at_once() -> float:
    """Nobody is waited for."""
    return 0.0


@dataclass(frozen=True, slots=True)
class WindingDown:
    """What happens between a signal and the end.

        serving ──TERM──> leaving: serves on until the pause is over, so that others notice
                ──INT──>  or another TERM, and from leaving: nothing comes in any more

    `leave` begins the pause and says how many seconds it takes; then `wind_down` ends what would
    not end by itself, and what still runs has `grace` seconds.
    """

    wind_down: Callable[[], Awaitable[None]]
    grace: float
    leave: Callable[[], float] = at_once


async def serve(
    responder: Responder,
    sock: socket.socket,
    wind_down: Callable[[], Awaitable[None]],
    grace: float,
    patience: Patience = PATIENCE,
) -> None:
    """Serve until SIGINT or SIGTERM, then let running requests finish."""
    await serve_at([Door(responder, OwnSocket(sock), patience)], WindingDown(wind_down, grace))


async def serve_at(doors: Sequence[Door], ending: WindingDown) -> None:
    """The same at several places; the first one is closed first."""
    loop = asyncio.get_running_loop()
    signals: asyncio.Queue[int] = asyncio.Queue()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, signals.put_nowait, number)
    _spare_the_collector()
    servers = [HttpServer(door.responder, loop, patience=door.patience) for door in doors]
    tickers = [loop.create_task(_tick(server)) for server in servers]
    for door, server in zip(doors, servers, strict=True):
        await door.entrance.open(partial(ServerConnection, server), server.connections.__len__)
    try:
        await _until_told(signals, ending, servers[0])
    finally:
        doors[0].entrance.close()
        await _finish(servers, ending)
        for door in doors[1:]:
            door.entrance.close()
        for task in tickers:
            task.cancel()


async def _until_told(signals: asyncio.Queue[int], ending: WindingDown, server: HttpServer) -> None:
    if await signals.get() != signal.SIGTERM:
        return
    pause = ending.leave()
    # A connection that is kept for later would be closed just when its next request comes.
    server.closing = True
    if pause > 0:
        with suppress(TimeoutError):
            await asyncio.wait_for(signals.get(), pause)


def _spare_the_collector() -> None:
    """What is loaded by now stays: scanning it again and again costs a busy server 5 %."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 10, 10)


async def _finish(servers: Sequence[HttpServer], ending: WindingDown) -> None:
    """What other processes ask of us for their clients is heard until the last of ours is done."""
    for server in servers:
        server.closing = True
    for connection in tuple(servers[0].connections):
        if connection.idle:
            connection.close()
    await ending.wind_down()
    clock = asyncio.get_running_loop().time
    until = clock() + ending.grace
    while (running := _running(servers)) and clock() < until:
        await asyncio.wait(running, timeout=until - clock())
    for server in servers:
        for connection in tuple(server.connections):
            connection.abort()
    running = _running(servers)
    for task in running:
        task.cancel()
    await asyncio.gather(*running, return_exceptions=True)


def _running(servers: Sequence[HttpServer]) -> tuple[asyncio.Task[None], ...]:
    return tuple(task for server in servers for task in server.tasks)


async def _tick(server: HttpServer) -> None:
    """Once a second: renew the Date header, and hang up on clients that are too slow."""
    while True:
        server.heads.tick()
        now = server.loop.time()
        for connection in tuple(server.connections):
            connection.hurry(now, server.patience)
        await asyncio.sleep(TICK)
