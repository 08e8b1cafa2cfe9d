"""Answer the requests on a socket until told to stop. Knows no MCP."""

from __future__ import annotations

import asyncio
import gc
import signal
import socket
from collections.abc import Awaitable, Callable
from email.utils import formatdate

from toolyard.http.patience import Patience
from toolyard.http.response import Responder
from toolyard.http.server import Connection
from toolyard.http.shared import Shared

TICK = 1.0
PATIENCE = Patience()


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
    shared = Shared(responder, loop, patience=patience)
    ticking = loop.create_task(_tick(shared))
    server = await loop.create_server(lambda: Connection(shared), sock=sock)
    try:
        await told.wait()
    finally:
        server.close()
        await _finish(shared, stopping, grace)
        ticking.cancel()


def _spare_the_collector() -> None:
    """What is loaded by now stays: looking at it again and again takes 5 % of a busy server."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 10, 10)


async def _finish(shared: Shared, stopping: Callable[[], Awaitable[None]], grace: float) -> None:
    shared.closing = True
    for connection in tuple(shared.connections):
        if connection.idle:
            connection.close()
    await stopping()
    if shared.tasks:
        await asyncio.wait(tuple(shared.tasks), timeout=grace)
    for connection in tuple(shared.connections):
        connection.abort()
    running = tuple(shared.tasks)
    for task in running:
        task.cancel()
    await asyncio.gather(*running, return_exceptions=True)


async def _tick(shared: Shared) -> None:
    """Once a second: the Date header, and connections that keep us waiting."""
    while True:
        shared.tick(formatdate(usegmt=True))
        now = shared.loop.time()
        for connection in tuple(shared.connections):
            connection.hurry(now, shared.patience)
        await asyncio.sleep(TICK)
