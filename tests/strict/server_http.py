"""Strict servers over HTTP: the pair of 2024-11-05, Streamable HTTP, and that of 2026-07-28.

One process has one of each, at `/NAME`. Headers are judged as messages are.
"""

from __future__ import annotations

import asyncio
import base64
import json
import sys
import uuid
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.strict.conversation import Conversation, Listen, Place, failure
from tests.strict.schema import MODERN, REVISIONS, Json, JsonObject
from tests.strict.world import conversation

NAMED_BY = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
# These may ask or tell something before they answer.
EVENTFUL = {"tools/call", "prompts/get", "resources/read", "subscriptions/listen"}
BOTH = ("application/json", "text/event-stream")


def http_name(revision: str) -> str:
    return f"h{revision.replace('-', '')}"


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    query: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def session(self) -> str:
        return self.headers.get("mcp-session-id", "")


class Answer:
    """The response to one request: whole, or as events."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self.writer = writer
        self.begun = False
        self.over = asyncio.Event()

    async def whole(
        self, status: int, body: Json = None, headers: Mapping[str, str] | None = None
    ) -> None:
        raw = b"" if body is None else json.dumps(body).encode()
        kind = {"Content-Type": "application/json"} if raw else {}
        self._head(status, {"Content-Length": str(len(raw)), **kind, **(headers or {})})
        self.writer.write(raw)
        self.over.set()
        await self.writer.drain()

    async def begin(self) -> None:
        self.begun = True
        self._head(200, {"Content-Type": "text/event-stream", "Transfer-Encoding": "chunked"})
        await self.writer.drain()

    async def event(self, data: str, kind: str = "message") -> None:
        if self.writer.is_closing():
            raise ConnectionError("the client has gone")
        raw = f"event: {kind}\ndata: {data}\n\n".encode()
        self.writer.write(b"%x\r\n%s\r\n" % (len(raw), raw))
        await self.writer.drain()

    async def message(self, message: Json) -> None:
        await self.event(json.dumps(message))

    async def last(self, message: Json) -> None:
        """As `message`, and a response is the end of the stream."""
        await self.message(message)
        if "method" not in message:
            self.writer.write(b"0\r\n\r\n")
            self.over.set()
            await self.writer.drain()

    async def alone(self, message: Json) -> None:
        """A response as the whole body."""
        await self.whole(200, message)

    def _head(self, status: int, fields: Mapping[str, str]) -> None:
        lines = [f"HTTP/1.1 {status} -", *(f"{name}: {value}" for name, value in fields.items())]
        self.writer.write(("\r\n".join(lines) + "\r\n\r\n").encode())


@dataclass
class Site:
    """A server at its path, with its sessions or its listens."""

    place: Place
    sessions: dict[str, Conversation] = field(default_factory=dict)
    listens: dict[Json, Listen] = field(default_factory=dict)

    async def handle(self, request: Request, answer: Answer, gone: asyncio.Future[bytes]) -> None:
        if "traceparent" in request.headers:
            headers = {name: request.headers.get(name) for name in ("traceparent", "tracestate")}
            self.place.note("traced", headers=headers, message=json.loads(request.body))
        if self.place.revision == MODERN:
            await self.modern(request, answer, gone)
        elif self.place.revision == REVISIONS[0]:
            await self.pair(request, answer, gone)
        elif request.method == "POST":
            await self.post(request, answer)
        elif request.method == "GET":
            await self.get(request, answer, gone)
        else:
            self.sessions.pop(request.session, None)
            await answer.whole(200)

    # -- 2024-11-05 ------------------------------------------------------------------------

    async def pair(self, request: Request, answer: Answer, gone: asyncio.Future[bytes]) -> None:
        key = request.query.removeprefix("key=")
        if request.method == "GET" and request.path.endswith("/sse"):
            key = uuid.uuid4().hex
            await answer.begin()
            self.sessions[key] = conversation(self.place, aside=answer.message)
            await answer.event(f"/{self.place.name}/post?key={key}", "endpoint")
            await asyncio.wait([gone])
            del self.sessions[key]
        elif request.method == "POST" and key in self.sessions:
            talk = self.sessions[key]
            assert talk.aside is not None
            await answer.whole(202)
            talk.receive(json.loads(request.body), talk.aside)
        else:
            await answer.whole(405 if request.path.endswith("/sse") else 404)

    # -- 2025-03-26 to 2025-11-25 ----------------------------------------------------------

    async def post(self, request: Request, answer: Answer) -> None:
        message = json.loads(request.body)
        method = message.get("method") if isinstance(message, dict) else None
        if method == "server/discover":
            await answer.whole(400, failure("server-error", -32600, "No session"))
            return
        if method == "initialize":
            key = uuid.uuid4().hex
            self.sessions[key] = conversation(self.place)
        elif request.session in self.sessions:
            key = request.session
        else:
            await answer.whole(404 if request.session else 400)
            return
        talk = self.sessions[key]
        if self.refuses(request, self.headers_wrong(request, method == "initialize")):
            await answer.whole(400, failure("server-error", -32600, "Bad headers"))
        elif isinstance(message, list):
            await talk.receive_batch(message, answer.alone)
        elif method is None or "id" not in message:
            talk.receive(message, answer.message)
            await answer.whole(202)
        elif method in EVENTFUL:
            await answer.begin()
            await served(talk, message, answer)
        else:
            await self.plainly(talk, message, answer, key)

    async def plainly(
        self, talk: Conversation, message: JsonObject, answer: Answer, key: str
    ) -> None:
        async def alone(response: Json) -> None:
            await answer.whole(200, response, {"Mcp-Session-Id": key})

        task = talk.receive(message, alone)
        if task is not None:
            await asyncio.wait([task])

    async def get(self, request: Request, answer: Answer, gone: asyncio.Future[bytes]) -> None:
        talk = self.sessions.get(request.session)
        if talk is None:
            await answer.whole(404 if request.session else 400)
            return
        self.refuses(request, self.headers_wrong(request, False))
        await answer.begin()
        talk.aside = answer.message
        await asyncio.wait([gone])
        if talk.aside == answer.message:
            talk.aside = None

    def headers_wrong(self, request: Request, first: bool) -> list[str]:
        accepted = request.headers.get("accept", "")
        wanted = BOTH if request.method == "POST" else BOTH[1:]
        wrong = [f"Accept lacks {kind}" for kind in wanted if kind not in accepted]
        named = request.headers.get("mcp-protocol-version")
        if not first and self.place.revision >= "2025-06-18" and named != self.place.revision:
            wrong.append(f"MCP-Protocol-Version is {named}")
        return wrong

    def refuses(self, request: Request, wrong: list[str]) -> bool:
        if wrong:
            self.place.note("invalid", tag="", problems=[f"{request.method}: {w}" for w in wrong])
        return bool(wrong)

    # -- 2026-07-28 ------------------------------------------------------------------------

    async def modern(self, request: Request, answer: Answer, gone: asyncio.Future[bytes]) -> None:
        if request.method != "POST":
            await answer.whole(405, headers={"Allow": "POST"})
            return
        message = json.loads(request.body)
        if message.get("method") == "initialize":
            await answer.whole(404, failure(message["id"], -32601, "Method not found"))
            return
        wrong = self.headers_wrong(request, True) + routing_wrong(request.headers, message)
        if self.refuses(request, wrong):
            await answer.whole(400, failure(message.get("id"), -32020, "; ".join(wrong)))
            return
        talk = conversation(self.place, listens=self.listens)
        if message["method"] not in EVENTFUL:
            task = talk.receive(message, answer.alone)
            await asyncio.wait([task] if task else [gone])
            return
        await answer.begin()
        serving = asyncio.create_task(served(talk, message, answer))
        either: list[asyncio.Future[Any]] = [serving, gone]
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        if message["method"] == "subscriptions/listen":
            await asyncio.wait([gone])
            self.listens.pop((talk.number, message["id"]), None)
        elif not serving.done():
            talk.cancel(message["id"], "the stream was closed")


async def served(talk: Conversation, message: JsonObject, answer: Answer) -> None:
    task = talk.receive(message, answer.last)
    if task is not None:
        await asyncio.wait([task])
    if not answer.over.is_set() and message["method"] != "subscriptions/listen":
        answer.writer.write(b"0\r\n\r\n")  # cancelled: no answer is due
        answer.over.set()


def routing_wrong(headers: Mapping[str, str], message: JsonObject) -> list[str]:
    params = message.get("params", {})
    meta = params.get("_meta", {})
    wanted = {
        "mcp-protocol-version": meta.get("io.modelcontextprotocol/protocolVersion"),
        "mcp-method": message.get("method"),
        "mcp-name": params.get(NAMED_BY.get(message.get("method", ""), "")),
    }
    found = {name: plain(headers.get(name)) for name in wanted}
    return [f"{name} is {found[name]}" for name in wanted if wanted[name] != found[name]]


def plain(value: str | None) -> str | None:
    if value is not None and value.startswith("=?base64?"):
        return base64.b64decode(value.removeprefix("=?base64?").removesuffix("?=")).decode()
    return value


# -- the wire ------------------------------------------------------------------------------


async def read_request(reader: asyncio.StreamReader, begun: bytes) -> Request:
    head = (begun + await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *rest = head.split("\r\n")
    method, target, _ = first.split()
    pairs = (line.partition(":") for line in rest if line)
    headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
    path, _, query = target.partition("?")
    if headers.get("transfer-encoding") == "chunked":
        body = b""
        while size := int(await reader.readuntil(b"\r\n"), 16):
            body += (await reader.readexactly(size + 2))[:-2]
        await reader.readuntil(b"\r\n")
    else:
        body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Request(method, path, query, headers, body)


async def serve(folder: Path) -> None:
    sites = {http_name(name): Site(Place(http_name(name), name, folder)) for name in REVISIONS}

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            begun: bytes | None = b""
            while begun is not None:
                begun = await exchange(sites, reader, writer, begun)
        writer.close()

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    print(f"listening on http://127.0.0.1:{port}/mcp", file=sys.stderr, flush=True)
    await asyncio.Event().wait()


async def exchange(
    sites: Mapping[str, Site],
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    begun: bytes,
) -> bytes | None:
    """One request and its response; what has come of the next one, None where there is none."""
    request = await read_request(reader, begun)
    answer = Answer(writer)
    site = sites.get(request.path.split("/")[1])
    if site is None:
        await answer.whole(404)
        return b""
    gone = asyncio.ensure_future(reader.read(1))
    try:
        await site.handle(request, answer, gone)
    finally:
        gone.cancel()
        await asyncio.wait([gone])  # one reader at a time
    if not answer.over.is_set():
        return None
    return b"" if gone.cancelled() else gone.result() or None
