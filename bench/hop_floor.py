"""The floor under a hop in Python, as hop_floor.c is under any: HTTP in, a server over HTTP behind.

    python -m bench.hop_floor PORT URL

Every JSON-RPC id is replaced by a number of ours and put back in the answer. It checks nothing and
believes everybody.
"""

from __future__ import annotations

import asyncio
import itertools
import sys
from typing import cast
from urllib.parse import SplitResult, urlsplit

import orjson
import uvloop

HERE = "127.0.0.1"
OF_ONE_CONNECTION = (b"host:", b"connection:", b"content-length:")


class Http(asyncio.Protocol):
    """One end of a keep-alive connection on which one message at a time comes in."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.WriteTransport", transport)
        self._come = b""

    def data_received(self, data: bytes) -> None:
        self._come += data
        head, _, body = self._come.partition(b"\r\n\r\n")
        at = head.lower().find(b"\r\ncontent-length:")
        length = int(head[at + 17 : at + 37].partition(b"\r\n")[0]) if at >= 0 else 0
        if len(body) >= length and len(self._come) > len(head):
            self._come = b""
            self.message(head, body)

    def message(self, head: bytes, body: bytes) -> None:
        raise NotImplementedError

    def put(self, first: bytes, head: bytes, body: bytes) -> None:
        """The message under another first line; headers of one connection are left out."""
        lines = [
            line
            for line in head.split(b"\r\n")[1:]
            if not line.lower().startswith(OF_ONE_CONNECTION)
        ]
        length = b"Content-Length: %d\r\n\r\n%b" % (len(body), body)
        self._transport.write(b"\r\n".join((first, *lines, length)))


class Upstream:
    """Connections to the server behind; in `idle` while nobody waits for their answers."""

    def __init__(self, url: SplitResult) -> None:
        self._port = url.port or 80
        self.first = f"POST {url.path} HTTP/1.1\r\nHost: {url.netloc}".encode()
        self.numbers = itertools.count(1)
        self.idle: list[Server] = []

    async def open(self, client: Client, head: bytes, body: bytes) -> None:
        make = asyncio.get_running_loop().create_connection
        _, server = await make(lambda: Server(self), HERE, self._port)
        server.ask(client, head, body)


class Server(Http):
    def __init__(self, upstream: Upstream) -> None:
        self._upstream = upstream

    def ask(self, client: Client, head: bytes, body: bytes) -> None:
        self._client = client
        request = orjson.loads(body)
        self._id = request.get("id")
        if self._id is not None:
            request["id"] = next(self._upstream.numbers)
        self.put(self._upstream.first, head, orjson.dumps(request))

    def message(self, head: bytes, body: bytes) -> None:
        if body:
            answer = orjson.loads(body)
            answer["id"] = self._id
            body = orjson.dumps(answer)
        self._upstream.idle.append(self)
        if not self._client.gone:
            self._client.put(head.partition(b"\r\n")[0], head, body)

    def connection_lost(self, _error: Exception | None) -> None:
        if self in self._upstream.idle:
            self._upstream.idle.remove(self)


class Client(Http):
    gone = False

    def __init__(self, upstream: Upstream) -> None:
        self._upstream = upstream

    def message(self, head: bytes, body: bytes) -> None:
        if self._upstream.idle:
            self._upstream.idle.pop().ask(self, head, body)
        else:
            opening = self._upstream.open(self, head, body)
            self._opening = asyncio.get_running_loop().create_task(opening)

    def connection_lost(self, _error: Exception | None) -> None:
        self.gone = True


async def hop(port: int, url: str) -> None:
    upstream = Upstream(urlsplit(url))
    make = asyncio.get_running_loop().create_server
    server = await make(lambda: Client(upstream), HERE, port, backlog=1024)
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(hop(int(sys.argv[1]), sys.argv[2]))
