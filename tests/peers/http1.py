"""One HTTP/1.1 exchange over asyncio streams, its body readable as events. Knows no MCP."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

LIMIT = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Event:
    """One server-sent event; `data` is None where the event had no data line."""

    data: str | None = None
    event: str = "message"
    id: str | None = None
    retry: int | None = None


@dataclass(slots=True)
class Reply:
    """A response whose head has arrived and whose body may still be coming."""

    status: int
    headers: dict[str, str]
    reader: asyncio.StreamReader

    @property
    def streams(self) -> bool:
        return self.headers.get("content-type", "").startswith("text/event-stream")

    async def body(self) -> bytes:
        return b"".join([piece async for piece in self.pieces()])

    async def json(self) -> Any:
        return json.loads(await self.body())

    async def pieces(self) -> AsyncIterator[bytes]:
        if "chunked" in self.headers.get("transfer-encoding", ""):
            async for piece in chunks(self.reader):
                yield piece
        elif "content-length" in self.headers:
            yield await self.reader.readexactly(int(self.headers["content-length"]))
        else:
            while piece := await self.reader.read(65536):
                yield piece

    async def events(self) -> AsyncIterator[Event]:
        lines: list[str] = []
        async for line in text_lines(self.pieces()):
            if line:
                lines.append(line)
            elif event := event_of(lines):
                lines = []
                yield event
            else:
                lines = []


async def chunks(reader: asyncio.StreamReader) -> AsyncIterator[bytes]:
    with suppress(asyncio.IncompleteReadError):
        while size := int((await reader.readuntil(b"\r\n")).split(b";")[0], 16):
            yield await reader.readexactly(size)
            await reader.readexactly(2)


async def text_lines(pieces: AsyncIterator[bytes]) -> AsyncIterator[str]:
    pending = b""
    async for piece in pieces:
        *whole, pending = (pending + piece).split(b"\n")
        for line in whole:
            yield line.removesuffix(b"\r").decode()


def event_of(lines: list[str]) -> Event | None:
    """The event of these lines; None for a lone comment."""
    fields: dict[str, list[str]] = {}
    for line in lines:
        name, _, value = line.partition(":")
        if name:
            fields.setdefault(name, []).append(value.removeprefix(" "))
    if not fields:
        return None
    return Event(
        data="\n".join(fields["data"]) if "data" in fields else None,
        event=fields.get("event", ["message"])[-1],
        id=fields["id"][-1] if "id" in fields else None,
        retry=int(fields["retry"][-1]) if "retry" in fields else None,
    )


@asynccontextmanager
async def fetch(
    method: str, url: str, headers: Mapping[str, str] | None = None, body: bytes | None = None
) -> AsyncIterator[Reply]:
    """Send one request on its own connection; leaving the block closes it."""
    parts = urlsplit(url)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port or 80, limit=LIMIT)
    try:
        writer.write(head(method, url, headers or {}, body) + (body or b""))
        await writer.drain()
        yield await reply_from(reader)
    finally:
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()


def head(method: str, url: str, headers: Mapping[str, str], body: bytes | None) -> bytes:
    parts = urlsplit(url)
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    named = {"Host": parts.netloc, "Connection": "close"}
    if body is not None:
        named["Content-Length"] = str(len(body))
    replaced = {name.lower() for name in headers}
    kept = {name: value for name, value in named.items() if name.lower() not in replaced}
    lines = [f"{name}: {value}" for name, value in {**kept, **headers}.items()]
    return "\r\n".join([f"{method} {target} HTTP/1.1", *lines, "", ""]).encode("utf-8")


async def reply_from(reader: asyncio.StreamReader) -> Reply:
    first, *rest = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    pairs = (line.partition(":") for line in rest if line)
    headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
    return Reply(int(first.split()[1]), headers, reader)
