"""The other processes, by name: where each is reached, and how one is asked.

Workers of one machine meet in a folder that only they may look into: each has a socket there, and
its name is the file's. Replicas find each other's host and port in the store.
"""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

from toolyard.cluster.door import ALIVE
from toolyard.cluster.hello import greet
from toolyard.cluster.visits import Visit, VisitSeal
from toolyard.http.fetching.client import (
    CannotReach,
    ClientResponse,
    Dial,
    HttpClient,
    Url,
    connected,
)
from toolyard.http.fetching.connection import HttpError
from toolyard.store.keys import ClusterKeys

CONNECT_WITHIN = 1.5
# Whoever runs a call says nothing until it has ended: so it is asked whether it lives.
LOOK_EVERY, ANSWER_WITHIN = 2.0, 3.0
_HEADERS = {"content-type": "application/octet-stream"}


class PeerGone(Exception):
    """Nothing was sent: it is not there."""


class PeerLost(Exception):
    """It may have done what it was asked for, and will not say."""


class PeerAddress(NamedTuple):
    host: str  # the name of a socket in the folder, where the port is 0
    port: int = 0


class Directory(Protocol):
    """Where the processes are."""

    def known(self, name: str) -> PeerAddress | None:
        """As far as is known without looking."""

    async def find(self, name: str) -> PeerAddress | None: ...

    def names(self) -> list[str]:
        """All of them, in order."""


class Peers:
    def __init__(self, keys: ClusterKeys, dial: Dial, directory: Directory) -> None:
        self._seal = VisitSeal(keys)
        self._client = HttpClient(_greeting(dial, keys))
        self._directory = directory
        # What is said with a visit that has no headers of a client: within which span it is made.
        self.context: Callable[[], Mapping[str, str]] | None = None

    def names(self) -> list[str]:
        """Of all processes, this one included, in an order that is the same for all."""
        return self._directory.names()

    async def ask(self, name: str, visit: Visit) -> ClientResponse:
        """The head of its answer is here; to be closed. Raises PeerGone and PeerLost."""
        if self.context is not None and not visit.headers:
            visit = replace(visit, headers=self.context())
        url = await self._url(name)
        asking = asyncio.ensure_future(
            self._client.request("POST", url, _HEADERS, self._seal.close(visit))
        )
        try:
            while not (await asyncio.wait([asking], timeout=LOOK_EVERY))[0]:
                if self._directory.known(name) is None or not await self._lives(url):
                    raise PeerLost(f"the process {name} does not answer any more")
            return asking.result()
        except CannotReach as error:
            raise PeerGone(str(error)) from None
        except HttpError as error:
            raise PeerLost(str(error)) from None
        finally:
            if not asking.done() or asking.cancelled():
                await _abandoned(asking)

    async def _url(self, name: str) -> Url:
        address = await self._directory.find(name)
        if address is None:
            raise PeerGone(f"there is no process {name}")
        host = f"[{address.host}]" if ":" in address.host else address.host
        return Url.parse(f"http://{host}:{address.port}/") if address.port else _local(host)

    async def _lives(self, url: Url) -> bool:
        with suppress(HttpError, TimeoutError):
            async with asyncio.timeout(ANSWER_WITHIN):
                answer = await self._client.request("GET", url._replace(target=ALIVE), {})
            answer.close()
            return answer.status == 204
        return False

    async def close(self) -> None:
        await self._client.close()


async def _abandoned(asking: asyncio.Future[ClientResponse]) -> None:
    asking.cancel()
    await asyncio.gather(asking, return_exceptions=True)


def _local(name: str) -> Url:
    return Url("http", name, 0, "/", f"http://{name}/", ("http", name, 0), "peer")


def _greeting(dial: Dial, keys: ClusterKeys) -> Dial:
    async def dial_and_greet(host: str, port: int) -> socket.socket:
        async with asyncio.timeout(CONNECT_WITHIN):
            sock = await dial(host, port)
            try:
                await greet(sock, keys)
            except BaseException:
                sock.close()
                raise
        return sock

    return dial_and_greet


@dataclass(frozen=True, slots=True)
class SocketFolder:
    """A Directory: who has a socket there, is there."""

    path: str

    def known(self, name: str) -> PeerAddress | None:
        return PeerAddress(name) if os.path.exists(os.path.join(self.path, name)) else None

    async def find(self, name: str) -> PeerAddress | None:
        return self.known(name)

    def names(self) -> list[str]:
        return sorted(os.listdir(self.path))


def in_folder(folder: str) -> Dial:
    """How a worker dials another: the host is the name of its socket."""

    async def dial(host: str, port: int) -> socket.socket:
        if port:
            return await connected(host, port)
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        sock.setblocking(False)
        try:
            await asyncio.get_running_loop().sock_connect(sock, os.path.join(folder, host))
        except BaseException:
            sock.close()
            raise
        return sock

    return dial


def listen_in(folder: str, name: str) -> socket.socket:
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    sock.bind(os.path.join(folder, name))
    sock.listen(1024)
    sock.setblocking(False)
    return sock
