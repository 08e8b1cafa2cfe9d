"""A head that is sent again means what it meant before, and nothing else is taken for it."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from toolyard.http.headers import Header
from toolyard.http.known_heads import learned
from toolyard.http.request import Request
from toolyard.http.response import Response
from toolyard.http.serving.connection import ServerConnection
from toolyard.http.serving.request_heads import Head, Repeated, read_head
from toolyard.http.serving.server import HttpServer

POST = b"POST /mcp HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\nX: y\r\n\r\n%b"
OTHERS = (
    b"POST /mcp HTTP/1.1\r\nHost: b\r\ncontent-length:%d\r\n\r\n%b",
    b"POST /mcp HTTP/1.1\r\nContent-Length: %d\r\nAuthorization: Bearer t\r\n\r\n%b",
    b"POST /mcp HTTP/1.1\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%b",
    b"POST /mcp HTTP/1.0\r\nContent-Length: %d\r\nConnection: keep-alive\r\n\r\n%b",
    b"POST /mcp HTTP/1.1\r\nX: content-length: 3\r\nContent-Length: %d\r\n\r\n%b",
    b"PUT /other?q HTTP/1.1\r\nContent-Length: %d\r\nExpect: 100-continue\r\n\r\n%b",
)
ODD = (
    b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n",
    b"POST /mcp HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
    b"POST /mcp HTTP/1.1\r\nHost: a\r\nContent-Length: +2\r\nX: y\r\n\r\nhi",
    b"POST /mcp HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nhi",
    b"\r\n",
    b"POST",
)


class Wires:
    """The transport's side: what was written, and whether it is still open."""

    def __init__(self) -> None:
        self.said = b""
        self.open = True

    def write(self, data: bytes) -> None:
        self.said += data if self.open else b""

    def close(self) -> None:
        self.open = False

    abort = close

    def is_closing(self) -> bool:
        return not self.open

    def get_extra_info(self, _name: str) -> tuple[str, int]:
        return "127.0.0.1", 1

    def pause_reading(self) -> None: ...
    def resume_reading(self) -> None: ...


async def echo(request: Request, response: Response) -> None:
    body, head = await request.read(1_000), request.head
    said = (head.method, head.path, head.query, head.raw, body)
    await response.send(200, repr((*said, head.version)).encode())


async def answers(pieces: list[bytes]) -> tuple[bytes, bool]:
    wires = Wires()
    connection = ServerConnection(HttpServer(echo, asyncio.get_running_loop()))
    connection.connection_made(wires)  # type: ignore[arg-type]
    for piece in pieces:
        if wires.open:
            connection.data_received(piece)
        for _ in range(5):
            await asyncio.sleep(0)
    for _ in range(50):
        await asyncio.sleep(0)
    return wires.said, wires.open


def filled(template: bytes, body: bytes, wrong: int) -> bytes:
    return template % (max(0, len(body) + wrong), body)


requests = st.one_of(
    st.builds(filled, st.just(POST), st.binary(max_size=12), st.sampled_from([0, 0, 0, 0, 1, -1])),
    st.builds(filled, st.sampled_from(OTHERS), st.binary(max_size=3), st.just(0)),
    st.sampled_from(ODD),
)


@st.composite
def conversations(draw: st.DrawFn) -> list[bytes]:
    """Requests, mostly each in one piece, some cut and some glued to the next."""
    pieces: list[bytes] = []
    for one in draw(st.lists(requests, min_size=1, max_size=8)):
        cut = draw(st.sampled_from(["no", "no", "no", "cut", "glue"]))
        if cut == "cut":
            at = draw(st.integers(0, len(one)))
            pieces += [part for part in (one[:at], one[at:]) if part]
        elif cut == "glue" and pieces:
            pieces[-1] += one
        else:
            pieces.append(one)
    return pieces


@settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))
@given(conversations())
def test_what_is_remembered_changes_no_answer(pieces: list[bytes]) -> None:
    remembering = asyncio.run(answers(pieces))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Repeated, "request_in", lambda self, data: None)
        patch.setattr(Repeated, "begun_in", lambda self, data: None)
        assert asyncio.run(answers(pieces)) == remembering


def test_a_repeated_head_is_not_parsed_again() -> None:
    parsed = 0
    learn = Repeated.learn

    def counted(self: Repeated, data: bytes, head: Head) -> None:
        nonlocal parsed
        parsed += 1
        learn(self, data, head)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Repeated, "learn", counted)
        said, _ = asyncio.run(answers([filled(POST, b"x" * size, 0) for size in (3, 3, 40, 3)]))
    assert said.count(b"HTTP/1.1 200 ") == 4
    assert [said.count(b"(b'content-length', b'%d')" % size) for size in (3, 40)] == [3, 1]
    assert parsed == 1


def test_a_repeated_head_is_not_parsed_again_where_its_body_comes_in_pieces() -> None:
    first, second = filled(POST, b"one", 0), filled(POST, b"another" * 9, 0)
    pieces = [first, second[:-40], second[-40:-20], second[-20:] + first, first]
    heads: list[Head] = []

    def counted(method: str, url: bytes, version: str, raw: list[Header]) -> Head:
        heads.append(read_head(method, url, version, raw))
        return heads[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("toolyard.http.serving.connection.read_head", counted)
        said, is_open = asyncio.run(answers(pieces))
    assert [said.count(b"b'%b'" % body) for body in (b"one", b"another" * 9)] == [3, 1]
    assert (len(heads), is_open) == (1, True)


@pytest.mark.parametrize(
    ("data", "names"),
    [
        (filled(POST, b"hi", 1), ["host", "content-length", "x"]),
        (filled(POST, b"hi", -1), ["host", "content-length", "x"]),
        (filled(POST, b"hi", 0), ["host", "content-length", "content-length", "x"]),
        (filled(POST, b"hi", 0), ["host", "content-length", "transfer-encoding"]),
        (ODD[0], ["host"]),
        (b"POST / HTTP/1.1\r\nX: " + b"y" * 9000 + b"\r\nContent-Length: 0\r\n\r\n", ["x"]),
    ],
)
def test_only_a_plain_whole_message_is_learned_from(data: bytes, names: list[str]) -> None:
    assert learned(data, names) is None
