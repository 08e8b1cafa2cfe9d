"""Load on an HTTP MCP server over keep-alive connections, and what it costs the server."""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from urllib.parse import urlsplit

import orjson

from bench.usage import cpu_seconds


@dataclass(frozen=True, slots=True)
class Load:
    """What was measured: requests a second, and CPU of the server per request."""

    rate: float
    cpu_us: float

    def better(self, other: Load | None) -> Load:
        """The best of both: what disturbs a machine only ever makes it slower."""
        if other is None:
            return self
        return Load(max(self.rate, other.rate), min(self.cpu_us, other.cpu_us))


@dataclass(slots=True)
class Contender:
    """A server that runs, and what it is asked again and again."""

    what: str
    url: str
    pids: list[int]
    request: bytes
    count: int
    at_once: int = 16
    rounds: list[Load] = field(default_factory=list)

    async def run(self) -> None:
        self.rounds.append(
            await load(self.url, self.pids, self.request, count=self.count, at_once=self.at_once)
        )

    @property
    def best(self) -> Load:
        """What disturbs a machine only ever makes it slower."""
        return Load(max(one.rate for one in self.rounds), min(one.cpu_us for one in self.rounds))

    @property
    def middle(self) -> Load:
        rates, costs = zip(*((one.rate, one.cpu_us) for one in self.rounds), strict=True)
        return Load(statistics.median(rates), statistics.median(costs))


async def in_turns(contenders: Sequence[Contender], rounds: int) -> dict[str, Load]:
    """The best of each: they take turns, so that all have the machine at its best and worst."""
    for _ in range(rounds):
        for contender in contenders:
            await contender.run()
    return {one.what: one.best for one in contenders}


def post(url: str, body: bytes, headers: dict[str, str]) -> bytes:
    """The bytes of one POST."""
    parts = urlsplit(url)
    lines = [
        f"POST {parts.path} HTTP/1.1",
        f"Host: {parts.netloc}",
        "Content-Type: application/json",
        "Accept: application/json, text/event-stream",
        f"Content-Length: {len(body)}",
        *(f"{name}: {value}" for name, value in headers.items()),
    ]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


class Connection:
    """One keep-alive connection that takes one answer at a time."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def send(self, request: bytes) -> tuple[bytes, bytes]:
        """Head and body of the answer, whether it has a length or comes in chunks."""
        self._writer.write(request)
        head = await self._reader.readuntil(b"\r\n\r\n")
        lower = head.lower()
        if b"content-length:" in lower:
            length = int(lower.split(b"content-length:")[1].split(b"\r\n")[0])
            return head, await self._reader.readexactly(length)
        parts = []
        while size := int(await self._reader.readuntil(b"\r\n"), 16):
            parts.append((await self._reader.readexactly(size + 2))[:-2])
        await self._reader.readexactly(2)
        return head, b"".join(parts)

    def close(self) -> None:
        self._writer.close()


async def connect(url: str) -> Connection:
    parts = urlsplit(url)
    return Connection(*await asyncio.open_connection(parts.hostname, parts.port, limit=1 << 24))


class Driver(asyncio.Protocol):
    """Sends one request again and again on a connection, each when the last was answered.

    In callbacks alone: whoever asks must take less of the machine than whoever answers.
    """

    def __init__(self, request: bytes) -> None:
        self._request = request
        self._left = 0
        self._answer = b""
        self._transport: asyncio.Transport = None  # type: ignore[assignment]  # until connected
        self._done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport  # type: ignore[assignment]  # always a TCP transport

    def drive(self, times: int) -> asyncio.Future[None]:
        self._left = times
        self._done = asyncio.get_running_loop().create_future()
        self._transport.write(self._request)
        return self._done

    def data_received(self, data: bytes) -> None:
        self._answer = answer = self._answer + data if self._answer else data
        if not is_whole(answer):
            return
        if not answer.startswith(b"HTTP/1.1 200 ") or b'"result"' not in answer:
            self._fail(f"answered {answer!r}")
            return
        self._answer = b""
        self._left -= 1
        if self._left:
            self._transport.write(self._request)
        elif not self._done.done():  # nobody may wait any more
            self._done.set_result(None)

    def connection_lost(self, error: Exception | None) -> None:
        self._fail("hung up")

    def _fail(self, why: str) -> None:
        if not self._done.done():
            self._done.set_exception(AssertionError(why))

    def close(self) -> None:
        self._transport.close()


def is_whole(answer: bytes) -> bool:
    """Is this all of an answer, whether it has a length or comes in chunks?"""
    end = answer.find(b"\r\n\r\n")
    if end < 0:
        return False
    head = answer[:end].lower()
    at = head.find(b"content-length:")
    if at < 0:
        return answer.endswith(b"\r\n0\r\n\r\n")
    return len(answer) == end + 4 + int(head[at + 15 :].partition(b"\r\n")[0])


async def drivers(url: str, request: bytes, at_once: int) -> list[Driver]:
    parts, loop = urlsplit(url), asyncio.get_running_loop()
    found = [Driver(numbered(request, number)) for number in range(at_once)]
    for driver in found:
        await loop.create_connection(partial(_same, driver), str(parts.hostname), parts.port or 80)
    return found


def _same(driver: Driver) -> Driver:
    return driver


async def load(url: str, pids: list[int], request: bytes, *, count: int, at_once: int = 16) -> Load:
    """Send `count` requests over `at_once` connections, after an eighth as many to warm up."""
    driving = await drivers(url, request, at_once)

    async def all_of(calls: int) -> int:
        each = max(calls // at_once, 1)
        await asyncio.gather(*(driver.drive(each) for driver in driving))
        return each * at_once

    try:
        await all_of(count // 8)
        before, start = cpu_seconds(pids), time.perf_counter()
        done = await all_of(count)
        elapsed, used = time.perf_counter() - start, cpu_seconds(pids) - before
    finally:
        for driver in driving:
            driver.close()
    return Load(done / elapsed, used / done * 1e6)


def numbered(request: bytes, number: int) -> bytes:
    """The same request under an id of its own: they are in flight on one session."""
    head, _, body = request.partition(b"\r\n\r\n")
    fresh = body.replace(b'"id":1,', b'"id":%d,' % (number + 1), 1)
    length = b"Content-Length: %d"
    return head.replace(length % len(body), length % len(fresh)) + b"\r\n\r\n" + fresh


def modern_call(url: str, name: str, arguments: dict[str, object]) -> bytes:
    """tools/call as a client of 2026-07-28 sends it."""
    params: dict[str, object] = {"name": name, "arguments": arguments}
    return modern_request(url, "tools/call", params, {"Mcp-Name": name})


def modern_request(
    url: str, method: str, params: dict[str, object], headers: dict[str, str]
) -> bytes:
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
    }
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}
    own = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method, **headers}
    return post(url, orjson.dumps(message), own)


async def session_call(url: str, name: str, arguments: dict[str, object]) -> bytes:
    """tools/call on a fresh session of 2025-11-25."""
    connection = await connect(url)
    hello = {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "bench", "version": "1"},
    }
    first = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello}
    head, _ = await connection.send(post(url, orjson.dumps(first), {}))
    headers = {"MCP-Protocol-Version": "2025-11-25"}
    for line in head.split(b"\r\n"):
        if line.lower().startswith(b"mcp-session-id:"):
            headers["Mcp-Session-Id"] = line.split(b":", 1)[1].strip().decode()
    ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    await connection.send(post(url, orjson.dumps(ready), headers))
    connection.close()
    params = {"name": name, "arguments": arguments}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    return post(url, orjson.dumps(message), headers)
