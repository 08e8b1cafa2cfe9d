"""Run an ASGI app on a socket until told to stop. Knows no MCP."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
from collections.abc import Awaitable, Callable, Iterator

import uvicorn

from toolyard.asgi import AsgiApp


class _Server(uvicorn.Server):
    """Leaves signals to us: running calls are finished before the sockets close."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def listen(host: str, port: int) -> socket.socket:
    """A listening socket; port 0 takes a free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    sock = socket.create_server((host, port), family=family, backlog=1024)
    sock.setblocking(False)
    return sock


async def serve(
    app: AsgiApp, sock: socket.socket, stopping: Callable[[], Awaitable[None]], grace: float
) -> None:
    """Serve until SIGINT or SIGTERM, then let running requests finish."""
    config = uvicorn.Config(
        app,
        http="httptools",
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=False,
        timeout_graceful_shutdown=max(1, round(grace)),
        timeout_keep_alive=75,
    )
    server = _Server(config)
    told = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, told.set)
    serving = loop.create_task(server.serve(sockets=[sock]))
    waiting = loop.create_task(told.wait())
    await asyncio.wait((serving, waiting), return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()
    await stopping()
    server.should_exit = True
    await serving
