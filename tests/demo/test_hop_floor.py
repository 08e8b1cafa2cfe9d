"""The floors that the gateway's hop is measured against answer as a gateway would."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from shutil import which
from urllib.parse import urlsplit

import orjson
import pytest

from bench.floors import IN_C, IN_PYTHON
from bench.load import connect, modern_call, post, session_call
from bench.proxies import upstream
from bench.standing import Standing, over_http, peer

ARGUMENTS: dict[str, object] = {"name": "x"}
KINDS = [(IN_C, "stdio"), (IN_C, "http"), (IN_PYTHON, "http")]


@pytest.fixture(params=KINDS, ids=" over ".join)
async def floor(request: pytest.FixtureRequest) -> AsyncIterator[Standing]:
    name, way = request.param
    if name == IN_C and which("cc") is None:
        pytest.skip("there is no cc here")
    async with AsyncExitStack() as stack:
        behind = upstream() if way == "stdio" else [str((await over_http(stack))[0]["url"])]
        yield await peer(stack, name, behind)


def with_body(request: bytes, url: str, message: object) -> bytes:
    """The request with its headers of MCP, and this as what it says."""
    lines = request.partition(b"\r\n\r\n")[0].decode().split("\r\n")
    headers = dict(line.split(": ", 1) for line in lines if line.lower().startswith("mcp-"))
    return post(url, orjson.dumps(message), headers)


def call(number: object, payload: str) -> dict[str, object]:
    # The id comes last, and another "id" before it, which is none of the message.
    arguments = {"id": 7, "name": payload}
    params = {"name": "echo", "arguments": arguments}
    return {"jsonrpc": "2.0", "method": "tools/call", "params": params, "id": number}


async def asked(url: str, request: bytes) -> dict[str, object]:
    connection = await connect(url)
    _, body = await connection.send(request)
    connection.close()
    found: dict[str, object] = orjson.loads(body)
    return found


@pytest.mark.parametrize("connections", [16, 128])
async def test_every_client_gets_its_own_answer_though_all_use_the_same_id(
    floor: Standing, connections: int
) -> None:
    request = await session_call(floor.url, "echo", ARGUMENTS)

    async def client(number: int) -> None:
        connection = await connect(floor.url)
        for turn in range(10):
            payload = f"{number}-{turn}-" + "y" * (number * 50)
            message = with_body(request, floor.url, call(1, payload))
            _, body = await connection.send(message)
            answer = orjson.loads(body)
            assert (answer["id"], answer["result"]["content"][0]["text"]) == (1, payload)
        connection.close()

    await asyncio.gather(*(client(number) for number in range(connections)))


async def test_clients_that_leave_take_nobodys_answer_with_them(floor: Standing) -> None:
    request = await session_call(floor.url, "echo", ARGUMENTS)

    async def client(number: int) -> None:
        for turn in range(20):
            payload = f"{number}-{turn}"
            message = with_body(request, floor.url, call(1, payload))
            _, writer = await asyncio.open_connection("127.0.0.1", urlsplit(floor.url).port)
            writer.write(message)
            await writer.drain()
            writer.close()
            assert payload in str(await asked(floor.url, message))

    await asyncio.gather(*(client(number) for number in range(32)))


async def test_an_id_comes_back_as_it_was(floor: Standing) -> None:
    request = await session_call(floor.url, "echo", ARGUMENTS)
    ids = [0, 123456789, 'a "quoted\\" id', "é"]
    answers = [
        await asked(floor.url, with_body(request, floor.url, call(number, "x"))) for number in ids
    ]
    assert [answer["id"] for answer in answers] == ids


async def test_a_large_payload_goes_there_and_back(floor: Standing) -> None:
    request = await session_call(floor.url, "echo", ARGUMENTS)
    payload = "z" * 900_000
    answer = await asked(floor.url, with_body(request, floor.url, call(1, payload)))
    assert payload in str(answer["result"])


async def test_a_modern_call_goes_through_as_it_is(floor: Standing) -> None:
    answer = await asked(floor.url, modern_call(floor.url, "echo", ARGUMENTS))
    assert "'text': 'x'" in str(answer["result"])


async def test_a_notification_is_accepted(floor: Standing) -> None:
    request = await session_call(floor.url, "echo", ARGUMENTS)
    ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    connection = await connect(floor.url)
    head, body = await connection.send(with_body(request, floor.url, ready))
    connection.close()
    assert (head.split(b"\r\n")[0], body) == (b"HTTP/1.1 202 Accepted", b"")
