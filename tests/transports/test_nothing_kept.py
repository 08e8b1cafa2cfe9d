"""A connection that has ended is gone at once, on either side: no cycle waits for the collector."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import Iterator

import pytest

from tests.until import until
from toolyard.http.fetching.client import HttpClient, Url
from toolyard.http.request import Request
from toolyard.http.response import Response
from toolyard.http.serving.connection import ServerConnection
from toolyard.http.serving.server import HttpServer


@pytest.fixture
def no_collector() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


async def hello(_request: Request, response: Response) -> None:
    await response.send(200, b"hello")


async def test_connections_are_gone_when_they_end(no_collector: None) -> None:
    loop = asyncio.get_running_loop()
    shared = HttpServer(hello, loop)
    kept: weakref.WeakSet[object] = weakref.WeakSet()

    def accepted() -> ServerConnection:
        connection = ServerConnection(shared)
        kept.add(connection)
        return connection

    server = await loop.create_server(accepted, "127.0.0.1", 0)
    url = Url.parse(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/")
    client = HttpClient()
    for _ in range(3):
        response = await client.request("POST", url, {}, b"{}")
        kept.add(response._connection)
        assert await response.read(100) == b"hello"
        response.close()
    assert len(kept) == 2
    del response
    await client.close()
    await until(lambda: not shared.connections and not kept)
    server.close()
