"""The HTTP client on its own: framing, keep-alive, limits."""

from __future__ import annotations

import asyncio
import socket

import pytest

from tests.until import until
from tests.upstreams.fake_http import FakeHttp, Handle, Request, fake_http
from toolyard.http.fetching.client import (
    MAX_IDLE,
    CannotReach,
    HttpClient,
    Url,
    connected,
    encode_head,
)
from toolyard.http.fetching.connection import Broken


async def fetch(client: HttpClient, server: FakeHttp, limit: int = 10_000) -> bytes:
    response = await client.request("POST", Url.parse(server.url), {"A": "b"}, b"{}")
    try:
        return bytes(await response.read(limit))
    finally:
        response.close()


def writing(*parts: bytes, then_close: bool = False) -> Handle:
    async def handle(request: Request) -> None:
        for part in parts:
            request.raw(part)
            await request.writer.drain()
            await asyncio.sleep(0.01)  # so that the parts arrive apart
        if then_close:
            request.writer.close()

    return handle


OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    ("parts", "close", "connections"),
    [
        ((OK + b"Content-Length: 5\r\n\r\nhello",), False, 1),
        ((OK[:7], OK[7:] + b"content-le", b"ngth: 5\r\n\r\nhe", b"llo"), False, 1),
        ((CHUNKED + b"2\r\nhe\r\n3;x=y\r\nllo\r\n0\r\n\r\n",), False, 1),
        ((CHUNKED, b"5\r", b"\nhel", b"lo\r\n0\r\n", b"\r\n"), False, 1),
        ((OK + b"\r\nhel", b"lo"), True, 2),
        ((OK + b"Connection: close\r\nContent-Length: 5\r\n\r\nhello",), True, 2),
        ((b"HTTP/1.1 100 Continue\r\n\r\n", OK + b"Content-Length: 5\r\n\r\nhello"), False, 1),
    ],
)
async def test_every_framing_of_a_body_is_understood(
    parts: tuple[bytes, ...], close: bool, connections: int
) -> None:
    client = HttpClient()
    async with fake_http(writing(*parts, then_close=close)) as server:
        for _ in range(2):
            assert await fetch(client, server) == b"hello"
        assert server.connections == connections
        await client.close()


@pytest.mark.parametrize(
    ("part", "close", "reason"),
    [
        (OK + b"Content-Length: 50\r\n\r\nhello", True, "closed"),
        (CHUNKED + b"5\r\nhello\r\n", True, "closed"),
        (b"", True, "closed"),
        (b"SSH-2.0-OpenSSH_9\r\n", False, "not HTTP"),
        (OK + b"X: y\r\n" * 20_000, False, "too long"),
        (OK + b"Content-Length: 20000\r\n\r\n" + b"x" * 20_000, False, "too big"),
    ],
)
async def test_an_answer_that_is_none_is_broken(part: bytes, close: bool, reason: str) -> None:
    client = HttpClient()
    async with fake_http(writing(part, then_close=close)) as server:
        with pytest.raises(Broken, match=reason):
            await fetch(client, server)
        await client.close()


async def test_the_address_to_dial_is_the_dialers_choice() -> None:
    dialled = []

    async def dial(host: str, port: int) -> socket.socket:
        dialled.append((host, port))
        return await connected("127.0.0.1", server.port)

    client = HttpClient(dial)
    async with fake_http(writing(OK + b"Content-Length: 2\r\n\r\nok")) as server:
        response = await client.request("GET", Url.parse("http://example.test:81/x?y=1"), {})
        assert await response.read(10) == b"ok"
        response.close()
        assert server.requests[0].headers["host"] == "example.test:81"
        assert server.requests[0].target == "/x?y=1"
        await client.close()
    assert dialled == [("example.test", 81)]


async def test_a_dialer_that_refuses_sends_nothing() -> None:
    async def dial(host: str, port: int) -> socket.socket:
        raise PermissionError(1, "private address")

    with pytest.raises(CannotReach, match="private address"):
        await HttpClient(dial).request("GET", Url.parse("http://10.0.0.1/"), {})


@pytest.mark.parametrize("value", ["a\r\nX: y", "a\nb", "a\0b", "日本"])
def test_a_header_cannot_smuggle_another(value: str) -> None:
    with pytest.raises(CannotReach):
        encode_head("POST", Url.parse("http://h/"), {"A": value}, b"")


async def test_a_stream_that_nobody_reads_is_held_back() -> None:
    client = HttpClient()
    sent = 0
    full = asyncio.Event()

    async def handle(request: Request) -> None:
        nonlocal sent
        request.open_events()
        piece = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
        while not full.is_set():
            request.raw(piece)
            try:
                async with asyncio.timeout(0.5):
                    await request.writer.drain()
            except TimeoutError:
                full.set()
            sent += 1

    async with fake_http(handle) as server:
        response = await client.request("GET", Url.parse(server.url), {})
        async with asyncio.timeout(20):
            await full.wait()
        assert sent * 0x10000 < 64 * 1024 * 1024
        response.close()
        await client.close()


HEAD = OK + b"Date: now\r\nContent-Length: %d\r\nX: y\r\n\r\n"


@pytest.mark.parametrize(
    "between",
    [
        (HEAD % 2 + b"no",),
        (HEAD % 4 + b"long",),
        (HEAD % 0,),
        (HEAD % 2, b"no"),
        ((HEAD % 2)[:30], (HEAD % 2)[30:] + b"no"),
        (HEAD % 9 + b"in", b" pie", b"ces"),
        (CHUNKED + b"2\r\nno\r\n0\r\n\r\n",),
        (b"HTTP/1.1 503 No\r\nDate: now\r\nContent-Length: 2\r\nX: y\r\n\r\nno",),
        (b"HTTP/1.1 100 Continue\r\n\r\n" + HEAD % 2 + b"no",),
    ],
)
async def test_answers_with_the_same_head_are_told_apart(between: tuple[bytes, ...]) -> None:
    """A head that came before is not parsed again; whatever is another one is."""
    answers = [(HEAD % 5 + b"hello",)] * 2 + [between, (HEAD % 5 + b"again",)]
    wanted = b"".join(between).rpartition(b"\r\n\r\n")[2]
    wanted = b"no" if between[0].startswith(CHUNKED) else wanted

    async def handle(request: Request) -> None:
        await writing(*answers.pop(0))(request)

    client = HttpClient()
    async with fake_http(handle) as server:
        got = []
        for _ in range(4):
            response = await client.request("POST", Url.parse(server.url), {}, b"{}")
            body = bytes(await response.read(100))
            got.append((response.status, body, response.headers.get("content-length")))
            response.close()
        status = 503 if b" 503 " in between[0] else 200
        length = None if between[0].startswith(CHUNKED) else str(len(wanted))
        assert got == [
            (200, b"hello", "5"),
            (200, b"hello", "5"),
            (status, wanted, length),
            (200, b"again", "5"),
        ]
        assert server.connections == 1
        await client.close()


@pytest.mark.parametrize("longer", [(HEAD % 3 + b"hello",), (HEAD % 3 + b"h", b"ello")])
async def test_an_answer_longer_than_its_head_says_is_not_taken_for_one(
    longer: tuple[bytes, ...],
) -> None:
    answers = [(HEAD % 5 + b"hello",), longer, (HEAD % 5 + b"again",)]

    async def handle(request: Request) -> None:
        await writing(*answers.pop(0))(request)

    client = HttpClient()
    async with fake_http(handle) as server:
        got = [await fetch(client, server) for _ in range(3)]
        assert got == [b"hello", b"hel", b"again"]
        assert server.connections == 2  # what follows an answer unasked is no HTTP
        await client.close()


async def test_a_stream_whose_head_is_known_begins_with_its_first_bytes() -> None:
    answers = [(HEAD % 5 + b"hello",), (HEAD % 5, b"ag", b"ain")]

    async def handle(request: Request) -> None:
        await writing(*answers.pop(0))(request)

    client = HttpClient()
    async with fake_http(handle) as server:
        assert await fetch(client, server) == b"hello"
        response = await client.request("POST", Url.parse(server.url), {}, b"{}")
        chunks = [await response.chunk() for _ in range(3)]
        response.close()
        assert chunks == [b"ag", b"ain", b""]
        await client.close()


async def test_an_answer_with_a_known_head_that_is_cut_off_is_broken() -> None:
    answers = [((HEAD % 5 + b"hello",), False), ((HEAD % 5 + b"h", b"el"), True)]

    async def handle(request: Request) -> None:
        parts, then_close = answers.pop(0)
        await writing(*parts, then_close=then_close)(request)

    client = HttpClient()
    async with fake_http(handle) as server:
        assert await fetch(client, server) == b"hello"
        with pytest.raises(Broken, match="closed"):
            await fetch(client, server)
        await client.close()


async def test_a_body_of_many_parts_is_read_whole_and_within_its_limit() -> None:
    body = b"0123456789" * 500_000
    client = HttpClient()
    async with fake_http(writing(HEAD % len(body) + body[:7], body[7:])) as server:
        assert await fetch(client, server, len(body)) == body
        with pytest.raises(Broken, match="too big"):
            await fetch(client, server, len(body) - 1)
        await client.close()


ANSWER = OK + b"Content-Length: 5\r\n\r\nhello"


def together(number: int) -> Handle:
    """Answers nobody before that many have asked."""
    everybody = asyncio.Barrier(number)

    async def handle(request: Request) -> None:
        await everybody.wait()
        request.raw(ANSWER)

    return handle


async def test_a_crowd_finds_its_connections_again() -> None:
    client = HttpClient()
    async with fake_http(together(64)) as server:
        for _ in range(4):
            await asyncio.gather(*(fetch(client, server) for _ in range(64)))
        assert server.connections == 64
        await client.close()


async def test_after_a_crowd_few_connections_are_kept() -> None:
    client = HttpClient()
    async with fake_http(together(40)) as server:
        await asyncio.gather(*(fetch(client, server) for _ in range(40)))
        await until(lambda: server.open <= MAX_IDLE)
        assert server.open == MAX_IDLE
        await client.close()


async def test_who_finds_no_room_gets_the_next_connection_that_is_free() -> None:
    client = HttpClient(most=4)
    async with fake_http(writing(ANSWER)) as server:
        bodies = await asyncio.gather(*(fetch(client, server) for _ in range(40)))
        assert bodies == [b"hello"] * 40
        assert server.connections == 4
        await client.close()


async def test_room_is_made_for_another_server_by_what_is_idle_or_free_next() -> None:
    client = HttpClient(most=2)
    async with fake_http(writing(ANSWER)) as one, fake_http(writing(ANSWER)) as other:
        for _ in range(3):
            both = (fetch(client, server) for server in (one, other) for _ in range(4))
            assert await asyncio.gather(*both) == [b"hello"] * 8
        await client.close()


async def test_a_connection_that_cannot_be_made_leaves_its_place_to_the_next() -> None:
    client = HttpClient(most=1)
    for _ in range(3):
        with pytest.raises(CannotReach):
            await client.request("GET", Url.parse("http://127.0.0.1:1/"), {})
    async with fake_http(writing(ANSWER)) as server:
        assert await fetch(client, server) == b"hello"
        await client.close()


async def test_who_stops_waiting_for_a_connection_loses_none() -> None:
    client = HttpClient(most=1)
    async with fake_http(writing(ANSWER)) as server:
        waiting = [asyncio.create_task(fetch(client, server)) for _ in range(6)]
        await asyncio.sleep(0)
        for task in waiting[1:5]:
            task.cancel()
        assert await waiting[0] == await waiting[5] == b"hello"
        assert await fetch(client, server) == b"hello"
        await client.close()


async def test_a_head_that_came_on_one_connection_is_known_on_the_others() -> None:
    """And whatever is not that head is read for itself."""
    both = asyncio.Barrier(3)
    bodies = [HEAD % 5 + b"hello", HEAD % 2 + b"ok", OK + b"Z: y\r\nContent-Length: 3\r\n\r\nnot"]

    async def handle(request: Request) -> None:
        if len(server.requests) > 1:
            await both.wait()
        request.raw(bodies[int(request.body)])

    async def ask(number: int) -> tuple[bytes, str | None, str | None]:
        response = await client.request("POST", Url.parse(server.url), {}, b"%d" % number)
        try:
            body = bytes(await response.read(10))
            return body, response.headers.get("content-length"), response.headers.get("z")
        finally:
            response.close()

    client = HttpClient()
    async with fake_http(handle) as server:
        assert await ask(0) == (b"hello", "5", None)
        for _ in range(3):
            got = await asyncio.gather(*map(ask, range(3)))
            assert got == [(b"hello", "5", None), (b"ok", "2", None), (b"not", "3", "y")]
        assert server.connections == 3
        await client.close()
