"""A server that answers the call number n with line n of a file, as it stands there.

verbatim_peer.py FILE 2025-11-25|2026-07-28 stdio|json|events
"""

from __future__ import annotations

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

RESULTS = Path(sys.argv[1]).read_bytes().split(b"\n")
REVISION, FORM = sys.argv[2:]
INFO = {"name": "odd", "version": "1"}
CAPABILITIES: dict[str, Any] = {"tools": {}}
TOOLS = {"tools": [{"name": "say", "inputSchema": {"type": "object"}}]}
MODERN = {"resultType": "complete", "ttlMs": 1000, "cacheScope": "public"}
GREETING: dict[str, tuple[str, dict[str, Any]]] = {
    "2025-11-25": ("initialize", {"protocolVersion": REVISION, "serverInfo": INFO}),
    "2026-07-28": ("server/discover", {**MODERN, "supportedVersions": [REVISION]}),
}


def answer_to(message: dict[str, Any]) -> bytes | None:
    """The text of the answer; None for what wants none."""
    if "id" not in message:
        return None
    method, (greeting, hello) = message["method"], GREETING[REVISION]
    if method == "tools/call":
        text = b'"result":' + RESULTS[message["params"]["arguments"]["n"]]
    elif method == greeting:
        text = b'"result":' + json.dumps({**hello, "capabilities": CAPABILITIES}).encode()
    elif method == "tools/list":
        text = b'"result":' + json.dumps({**hello, **TOOLS}).encode()
    else:
        text = b'"error":{"code":-32601,"message":"no"}'
    return b'{"jsonrpc":"2.0","id":%d,%b}' % (message["id"], text)


class Endpoint(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body at once

    def do_POST(self) -> None:
        size = int(self.headers["Content-Length"])
        answer = answer_to(json.loads(self.rfile.read(size)))
        if answer is None:
            self.reply(202, "application/json", b"")
        elif FORM == "events":
            self.reply(200, "text/event-stream", b"data: " + answer + b"\n\n")
        else:
            self.reply(200, "application/json", answer)

    def do_GET(self) -> None:
        self.reply(405, "text/plain", b"")

    do_DELETE = do_GET

    def reply(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


def main() -> None:
    if FORM != "stdio":
        server = ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
        print(f"http://127.0.0.1:{server.server_port}/mcp", file=sys.stderr, flush=True)
        server.serve_forever()
    for line in sys.stdin:
        answer = answer_to(json.loads(line))
        if answer is not None:
            sys.stdout.buffer.write(answer + b"\n")
            sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
