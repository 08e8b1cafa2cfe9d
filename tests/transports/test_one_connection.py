"""Whatever was asked before on a connection, a request is answered as it would be on its own."""

from __future__ import annotations

import asyncio
import json
import random
import sys
from pathlib import Path
from typing import Any

from tests.peers.http1 import head, reply_from
from tests.peers.serving import Listening, listening, serving

TOKEN = "t" * 32
JSON = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
MODERN = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/list"}
KNOWN = {"Authorization": f"Bearer {TOKEN}"}
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


def listing(number: int) -> bytes:
    params = {"_meta": META}
    message = {"jsonrpc": "2.0", "id": number, "method": "tools/list", "params": params}
    return json.dumps(message).encode()


# Method, path, headers, body, and the status that it has by itself.
ASKED: tuple[tuple[str, str, dict[str, str], bytes | None, int], ...] = (
    ("POST", "/mcp", {**JSON, **MODERN, **KNOWN}, listing(1), 200),
    ("POST", "/mcp", {**JSON, **MODERN, **KNOWN}, listing(1_000_000), 200),
    ("POST", "/mcp", {**JSON, **MODERN}, listing(1), 401),
    ("POST", "/mcp", {**JSON, **MODERN, "Authorization": "Bearer x"}, listing(1), 401),
    ("POST", "/mcp", {**JSON, **MODERN, **KNOWN, "Host": "evil.test"}, listing(1), 403),
    ("POST", "/mcp", {**JSON, **MODERN, **KNOWN, "Origin": "http://evil.test"}, listing(1), 403),
    ("POST", "/mcp", {**JSON, **MODERN, **KNOWN, "Origin": "http://localhost"}, listing(1), 200),
    ("POST", "/mcp", {**MODERN, **KNOWN, "Content-Type": "text/plain"}, listing(1), 415),
    ("POST", "/mcp", {**JSON, **MODERN, **KNOWN, "Mcp-Method": "ping"}, listing(1), 400),
    ("POST", "/nowhere", {**JSON, **MODERN, **KNOWN}, listing(1), 404),
    ("PUT", "/mcp", {**JSON, **KNOWN}, listing(1), 405),
    ("OPTIONS", "/mcp", {"Origin": "http://localhost"}, None, 204),
    ("GET", "/healthz", {}, None, 200),
    ("GET", "/status", {}, None, 401),
    ("GET", "/status", KNOWN, None, 200),
)


async def test_what_was_asked_before_changes_no_answer(tmp_path: Path) -> None:
    file = tmp_path / "registry.json"
    file.write_text('{"servers": []}')
    order = random.Random(7).choices(range(len(ASKED)), k=300)
    async with serving(file, "--no-page", env={"TOOLYARD_TOKEN": TOKEN}) as server:
        host, port = server.origin.removeprefix("http://").split(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        for method, path, headers, body, status in (ASKED[number] for number in order):
            headers = {"Connection": "keep-alive", **headers}
            sent = head(method, f"{server.origin}{path}", headers, body) + (body or b"")
            writer.write(sent)
            async with asyncio.timeout(10):
                reply = await reply_from(reader)
                said = await reply.body()
            assert reply.status == status, (sent, said)
            allowed = reply.headers.get("access-control-allow-origin")
            local = headers.get("Origin") == "http://localhost"
            assert allowed == ("http://localhost" if local else None)
            if status == 200 and body is not None:
                assert json.loads(said)["id"] == json.loads(body)["id"]
        writer.close()


# -- one head, and bodies that do or do not go with it ---------------------------------------

IN_MEMORY = [sys.executable, "-m", "tests.peers.inmemory", "http"]
PREFIX = "io.modelcontextprotocol/"
CALLING = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "ask"}
ASKABLE = {**META, PREFIX + "clientCapabilities": {"elicitation": {}, "roots": {}}}


def calling(meta: object, name: str = "ask", method: str = "tools/call") -> bytes:
    params = {"name": name, "arguments": {}, "_meta": meta}
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()


# What is sent with that head, and what comes of it: the kind of a result, or the code of an error.
BODIES: tuple[tuple[bytes, object], ...] = (
    (calling(ASKABLE), "input_required"),
    (calling(META), -32021),
    (calling({**ASKABLE, "vendor/key": 1}), "input_required"),
    (calling({**ASKABLE, PREFIX + "logLevel": "debug"}), "input_required"),
    (calling({**ASKABLE, PREFIX + "logLevel": "loud"}), -32602),
    (calling({**ASKABLE, PREFIX + "protocolVersion": "2027-01-01"}), -32020),
    (calling({PREFIX + "protocolVersion": "2026-07-28"}), -32602),
    (calling(None), -32602),
    (calling(ASKABLE, "echo"), -32020),
    (calling(ASKABLE, method="tools/list"), -32020),
)


async def test_a_head_vouches_for_no_other_body_than_its_last() -> None:
    order = random.Random(11).choices(range(len(BODIES)), k=100)  # of 64 that wait, no more
    async with listening(IN_MEMORY) as server:
        reader, writer = await connected(server)
        for number in order:
            body, expected = BODIES[number]
            said = await answer(server, reader, writer, {**JSON, **CALLING}, body)
            outcome = said["result"]["resultType"] if "result" in said else said["error"]["code"]
            assert outcome == expected, (body, said)
        writer.close()


async def test_a_call_that_was_cancelled_leaves_its_connection_as_it_was() -> None:
    """One task answers all requests of a connection: ending a call must not end it."""
    async with listening(IN_MEMORY) as server:
        reader, writer = await connected(server)
        client = {"name": "x", "version": "1"}
        hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client}
        writer.write(request(server, JSON, message("initialize", hello)))
        reply = await reply_from(reader)
        await reply.body()
        session = {**JSON, "Mcp-Session-Id": reply.headers["mcp-session-id"]}
        other = await connected(server)
        assert await status(server, *other, session, message("notifications/initialized")) == 202
        for number in range(3):
            seen = len(server.stderr)
            writer.write(request(server, session, message("tools/call", {"name": "hang"}, id=7)))
            await server.says("hang began", seen)
            taken_back = message("notifications/cancelled", {"requestId": 7})
            assert await status(server, *other, session, taken_back) == 202
            async with asyncio.timeout(10):
                await (await reply_from(reader)).body()
                assert await reader.readexactly(2) == b"\r\n"  # behind the last chunk
            await server.says("hang was cancelled", seen)
            pinged = await answer(server, reader, writer, session, message("ping", id=number))
            assert pinged == {"jsonrpc": "2.0", "id": number, "result": {}}
        writer.close()
        other[1].close()


Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def connected(server: Listening) -> Streams:
    host, port = server.origin.removeprefix("http://").split(":")
    return await asyncio.open_connection(host, int(port))


def message(method: str, params: object = None, **more: object) -> bytes:
    whole = {"jsonrpc": "2.0", "method": method, **({"params": params} if params else {}), **more}
    return json.dumps({"id": 0, **whole} if method == "initialize" else whole).encode()


def request(server: Listening, headers: dict[str, str], body: bytes) -> bytes:
    return head("POST", server.url, {"Connection": "keep-alive", **headers}, body) + body


async def answer(
    server: Listening,
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    headers: dict[str, str],
    body: bytes,
) -> Any:
    writer.write(request(server, headers, body))
    async with asyncio.timeout(10):
        return json.loads(await (await reply_from(reader)).body())


async def status(
    server: Listening,
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    headers: dict[str, str],
    body: bytes,
) -> int:
    writer.write(request(server, headers, body))
    async with asyncio.timeout(10):
        reply = await reply_from(reader)
        await reply.body()
    return reply.status
