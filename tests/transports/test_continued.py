"""A connection that was answered before the server ran is not answered a second time."""

from __future__ import annotations

import asyncio
import socket

import pytest

from tests.peers.http1 import reply_from
from toolyard.http.request import Request
from toolyard.http.response import LONG, Response
from toolyard.http.serving.continued import Continued
from toolyard.http.serving.listening import Earlier
from toolyard.http.serving.server import HttpServer


@pytest.mark.parametrize("size", [10, LONG, 4 * LONG])
async def test_only_the_answer_that_the_client_has_is_dropped(size: int) -> None:
    def asked(path: str) -> bytes:
        return f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode()

    async def answer(request: Request, response: Response) -> None:
        await response.send(200, request.path.encode() * size)

    loop = asyncio.get_running_loop()
    ours, theirs = socket.socketpair()
    earlier = Earlier(ours, asked("/1"), foretold="told")
    server = HttpServer(answer, loop)
    await loop.connect_accepted_socket(lambda: Continued(server, earlier), ours)
    reader, writer = await asyncio.open_connection(sock=theirs)
    for path in ("/2", "/3"):
        writer.write(asked(path))
        async with asyncio.timeout(10):
            assert await (await reply_from(reader)).body() == path.encode() * size
    writer.close()
