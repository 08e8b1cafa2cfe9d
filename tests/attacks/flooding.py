"""An MCP server on pipes that says far more than anybody asked for, when its tools are called."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator
from typing import Any

JsonObject = dict[str, Any]
KINDS = ("progress", "logs", "list changes", "stderr", "garbage", "answers", "questions", "batches")
NAMES = ("flood", "line", "speak", "echo")
TOOLS = [{"name": name, "inputSchema": {"type": "object"}} for name in NAMES]


def said(message: JsonObject) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"


def write(message: JsonObject) -> None:
    put(1, said(message))


def put(fd: int, data: bytes) -> None:
    while data:
        data = data[os.write(fd, data) :]


def noise(kind: str, token: Any) -> Iterator[bytes]:
    log = {"method": "notifications/message", "params": {"level": "error", "data": "x" * 200}}
    one = {
        "progress": said(
            {
                "method": "notifications/progress",
                "params": {"progressToken": token, "progress": 1, "message": "x" * 200},
            }
        ),
        "logs": said(log),
        "list changes": said({"method": "notifications/tools/list_changed"}),
        "stderr": b"x" * 200 + b"\n",
        "garbage": b"{" + b"x" * 200 + b"\n",
        "answers": said({"id": 10**9, "result": {"x": "x" * 200}}),
        "questions": said({"id": "q", "method": "sampling/createMessage", "params": {}}),
        "batches": json.dumps([{"jsonrpc": "2.0", **log}] * 300).encode() + b"\n",
    }[kind]
    while True:
        yield one * (1 if kind == "batches" else 100)


def flood(kind: str, seconds: float, token: Any) -> None:
    os.set_blocking(2, True)
    end = time.monotonic() + seconds
    for chunk in noise(kind, token):
        put(2 if kind == "stderr" else 1, chunk)
        if time.monotonic() > end:
            return


def overlong(size: int) -> None:
    for _ in range(size >> 20):
        put(1, b"x" * (1 << 20))
    put(1, b"\n")


def call(request: JsonObject) -> None:
    params = request["params"]
    arguments = params.get("arguments", {})
    token = params.get("_meta", {}).get("progressToken")
    if params["name"] == "flood":
        flood(arguments["kind"], arguments["seconds"], token)
    if params["name"] == "line":
        overlong(arguments["size"])
    text = {"type": "text", "text": json.dumps(arguments)}
    if params["name"] == "speak":
        progress = {"progressToken": token, "progress": 1}
        write({"method": "notifications/progress", "params": progress})
        text["text"] = "x" * arguments["size"]
    write({"id": request["id"], "result": {"content": [text]}})


def main() -> None:
    for line in sys.stdin.buffer:
        request = json.loads(line)
        method = request.get("method")
        if "id" not in request or method is None:
            continue
        if method == "initialize":
            told = {"capabilities": {"tools": {"listChanged": True}, "logging": {}}}
            version = request["params"]["protocolVersion"]
            info = {"name": "flooding", "version": "1"}
            result = {"protocolVersion": version, "serverInfo": info, **told}
            write({"id": request["id"], "result": result})
        elif method == "tools/list":
            write({"id": request["id"], "result": {"tools": TOOLS}})
        elif method == "tools/call":
            call(request)
        elif method in ("ping", "logging/setLevel"):
            write({"id": request["id"], "result": {}})
        else:
            error = {"code": -32601, "message": "Method not found"}
            write({"id": request["id"], "error": error})


if __name__ == "__main__":
    main()
