"""Where the other processes come in: nobody without the cluster key is listened to.

A connection begins with `hello`; what has no key is hung up on, without an answer. Then each
request is a visit, and goes to the service that it names.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Mapping
from typing import TypeAlias

from toolyard.cluster.hello import welcome
from toolyard.cluster.visits import Visit, VisitSeal
from toolyard.http.request import BodyTooLarge, Disconnected, Request
from toolyard.http.response import Response
from toolyard.http.serving.connection import ServerConnection
from toolyard.store.keys import ClusterKeys
from toolyard.store.seal import Unopened
from toolyard.telemetry import logger

log = logger("peers")
ALIVE = "/alive"
MOST_STRANGERS = 256  # connections that have not shown the key yet
MOST_BYTES = 32 * 1024 * 1024

Service: TypeAlias = Callable[[Visit, Request, Response], Awaitable[None]]


class PeerEntrance:
    """An Entrance to which only peers come in."""

    def __init__(self, sock: socket.socket, keys: ClusterKeys) -> None:
        self._sock = sock
        self._keys = keys
        self._tasks: set[asyncio.Task[None]] = set()
        self._accepting: asyncio.Task[None] | None = None

    async def open(self, make: Callable[[], ServerConnection], held: Callable[[], int]) -> None:
        self._accepting = asyncio.create_task(self._accept(make))

    async def _accept(self, make: Callable[[], ServerConnection]) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                sock, _ = await loop.sock_accept(self._sock)
            except OSError:  # no descriptor is left: what waits, waits on
                await asyncio.sleep(1.0)
                continue
            if len(self._tasks) >= MOST_STRANGERS:
                sock.close()
                continue
            sock.setblocking(False)
            task = loop.create_task(self._admit(sock, make))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _admit(self, sock: socket.socket, make: Callable[[], ServerConnection]) -> None:
        try:
            await welcome(sock, self._keys)
            await asyncio.get_running_loop().connect_accepted_socket(make, sock)
        except (OSError, TimeoutError):
            log.debug("a connection without the cluster key was closed")
            sock.close()
        except BaseException:
            sock.close()
            raise

    def close(self) -> None:
        for task in (self._accepting, *self._tasks):
            if task is not None:
                task.cancel()
        self._sock.close()


class PeerDoor:
    """A Responder: what other processes ask of this one."""

    def __init__(self, keys: ClusterKeys, services: Mapping[str, Service]) -> None:
        self._seal = VisitSeal(keys)
        self._services = services

    async def __call__(self, request: Request, response: Response) -> None:
        if request.head.path == ALIVE:
            await response.send(204)
            return
        try:
            visit = self._seal.open(request.at_hand() or await request.read(MOST_BYTES))
            service = self._services[visit.service]
        except Disconnected:
            return
        except (Unopened, BodyTooLarge, KeyError):
            await response.send(400)
            return
        await service(visit, request, response)
