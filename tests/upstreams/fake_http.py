"""A raw HTTP server in the test's own loop: sees every byte, and can misbehave at any of them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias

JsonObject: TypeAlias = dict[str, Any]
MODERN_KEY = "io.modelcontextprotocol/protocolVersion"


@dataclass
class Request:
    method: str
    target: str
    headers: dict[str, str]  # names in lower case
    body: bytes
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    @property
    def json(self) -> JsonObject:
        value: JsonObject = json.loads(self.body or b"{}")
        return value

    @property
    def rpc(self) -> str:
        return str(self.json.get("method", "")) if self.body else ""

    def raw(self, data: bytes) -> None:
        self.writer.write(data)

    def answer(
        self, status: int, body: bytes = b"", kind: str = "application/json", **headers: str
    ) -> None:
        lines = [f"HTTP/1.1 {status} X", f"Content-Length: {len(body)}", f"Content-Type: {kind}"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        self.raw("\r\n".join([*lines, "\r\n"]).encode() + body)

    def result(self, result: JsonObject, **headers: str) -> None:
        message = {"jsonrpc": "2.0", "id": self.json["id"], "result": result}
        self.answer(200, json.dumps(message).encode(), **headers)

    def error(self, status: int, code: int, message: str, data: Any = None) -> None:
        error = {"code": code, "message": message, **({} if data is None else {"data": data})}
        message_id = self.json.get("id")
        body = {"jsonrpc": "2.0", "id": message_id, "error": error}
        self.answer(status, json.dumps(body).encode())

    def open_events(self) -> None:
        self.raw(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
            b"Transfer-Encoding: chunked\r\n\r\n"
        )

    def event(self, message: JsonObject | None, **fields: str) -> None:
        lines = [f"{name}: {value}" for name, value in fields.items()]
        lines.append(f"data: {'' if message is None else json.dumps(message)}")
        data = "\n".join([*lines, "\n"]).encode()
        self.raw(b"%x\r\n%b\r\n" % (len(data), data))

    def close_events(self) -> None:
        self.raw(b"0\r\n\r\n")

    def cut(self) -> None:
        self.writer.transport.abort()

    async def gone(self) -> None:
        """Until the client has closed the connection."""
        while await self.reader.read(65536):
            pass


Handle: TypeAlias = Callable[[Request], Awaitable[None]]


@dataclass
class FakeHttp:
    port: int
    handle: Handle
    requests: list[Request] = field(default_factory=list)
    connections: int = 0
    open: int = 0  # of those, the ones that are still there

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/mcp"

    def rpcs(self) -> list[str]:
        return [request.rpc or request.method for request in self.requests]

    def calls(self) -> list[Request]:
        return [request for request in self.requests if request.rpc == "tools/call"]

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.open += 1
        try:
            while (request := await _read(reader, writer)) is not None:
                self.requests.append(request)
                await self.handle(request)
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            self.open -= 1
            writer.close()


async def _read(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Request | None:
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        line = await reader.readline()
        if not line:
            return None
        head += line
    first, *rest = head.decode().split("\r\n")
    method, target, _ = first.split(" ")
    headers = {}
    for field_line in filter(None, rest):
        name, _, value = field_line.partition(": ")
        headers[name.lower()] = value
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return Request(method, target, headers, body, reader, writer)


@asynccontextmanager
async def fake_http(handle: Handle, port: int = 0) -> AsyncIterator[FakeHttp]:
    fake = FakeHttp(port, handle)
    server = await asyncio.start_server(fake.serve, "127.0.0.1", port)
    fake.port = server.sockets[0].getsockname()[1]
    try:
        yield fake
    finally:
        server.close()


TOOLS: list[JsonObject] = [{"name": "echo", "inputSchema": {"type": "object"}}]


def modern(
    on_call: Handle | None = None, tools: list[JsonObject] | None = None, **capabilities: Any
) -> Handle:
    """A modern server: discover, one page of tools, and calls by `on_call` or echoed."""

    async def handle(request: Request) -> None:
        if request.method != "POST":
            request.answer(405)
        elif request.rpc == "server/discover":
            request.result(
                {
                    "resultType": "complete",
                    "supportedVersions": ["2026-07-28"],
                    "capabilities": capabilities or {"tools": {}},
                    "ttlMs": 0,
                    "cacheScope": "private",
                }
            )
        elif request.rpc == "tools/list":
            listed = TOOLS if tools is None else tools
            request.result({"resultType": "complete", "tools": listed})
        elif on_call is not None:
            await on_call(request)
        else:
            request.result({"resultType": "complete", "structuredContent": request.json["params"]})

    return handle


@dataclass
class Handshake:
    """A server of the handshake era with sessions, a GET stream and DELETE."""

    on_call: Handle | None = None
    version: str | None = None
    listens: Handle | None = None
    sessions: list[str] = field(default_factory=list)
    ended: list[str] = field(default_factory=list)
    forgotten: set[str] = field(default_factory=set)

    async def __call__(self, request: Request) -> None:
        session = request.headers.get("mcp-session-id")
        if request.rpc == "initialize":
            self._initialize(request)
        elif session is None:
            request.error(400, -32600, "Bad Request: Missing session ID")
        elif session in self.forgotten or session not in self.sessions:
            request.error(404, -32600, "Session not found")
        elif request.method == "DELETE":
            self.ended.append(session)
            request.answer(200)
        elif request.method == "GET":
            await self._get(request)
        else:
            await self._post(request)

    def _initialize(self, request: Request) -> None:
        self.sessions.append(f"session-{len(self.sessions) + 1}")
        version = self.version or request.json["params"]["protocolVersion"]
        info = {"name": "fake", "version": "1"}
        capabilities = {"tools": {"listChanged": True}}
        request.result(
            {"protocolVersion": version, "capabilities": capabilities, "serverInfo": info},
            mcp_session_id=self.sessions[-1],
        )

    async def _get(self, request: Request) -> None:
        if self.listens is None:
            request.answer(405)
        else:
            await self.listens(request)

    async def _post(self, request: Request) -> None:
        if "id" not in request.json or "method" not in request.json:
            request.answer(202)
        elif request.rpc == "tools/list":
            request.result({"tools": TOOLS})
        elif request.rpc == "tools/call" and self.on_call is not None:
            await self.on_call(request)
        else:
            request.result({"structuredContent": request.json["params"]})
