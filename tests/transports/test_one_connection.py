"""Whatever was asked before on a connection, a request is answered as it would be on its own."""

from __future__ import annotations

import asyncio
import json
import random
from pathlib import Path

from tests.peers.http1 import head, reply_from
from tests.peers.serving import serving

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
