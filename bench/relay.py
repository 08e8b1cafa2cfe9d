"""A relay that passes bytes between two sockets and does nothing else: what being woken costs.

python -m bench.relay PORT PORT_BEHIND
"""

from __future__ import annotations

import asyncio
import sys
from typing import cast

import uvloop


class Back(asyncio.Protocol):
    def __init__(self, client: asyncio.WriteTransport) -> None:
        self._client = client

    def data_received(self, data: bytes) -> None:
        self._client.write(data)


class Front(asyncio.Protocol):
    def __init__(self, behind: int) -> None:
        self._behind = behind
        self._early = b""
        self._server: asyncio.WriteTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        client = cast("asyncio.WriteTransport", transport)
        self._opening = asyncio.get_running_loop().create_task(self._open(client))

    async def _open(self, client: asyncio.WriteTransport) -> None:
        loop = asyncio.get_running_loop()
        self._server, _ = await loop.create_connection(
            lambda: Back(client), "127.0.0.1", self._behind
        )
        self._server.write(self._early)

    def data_received(self, data: bytes) -> None:
        if self._server is None:
            self._early += data
        else:
            self._server.write(data)

    def connection_lost(self, _error: Exception | None) -> None:
        if self._server is not None:
            self._server.close()


async def relay(port: int, behind: int) -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Front(behind), "127.0.0.1", port, backlog=1024)
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(relay(int(sys.argv[1]), int(sys.argv[2])))
