"""A raw MCP server on pipes that behaves, or misbehaves, as its options say. No SDK.

Every line it receives is appended to the file `log`, so that tests see what was really sent.
The file `mood`, where it is given, says how it takes an `initialize` from now on.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Callable
from typing import Any

JsonObject = dict[str, Any]
VERSION = "io.modelcontextprotocol/protocolVersion"
TEXT: JsonObject = {"type": "object", "properties": {}}

OPTIONS: JsonObject = json.loads(sys.argv[1])
TOOLS = OPTIONS.get(
    "tools", [{"name": name, "inputSchema": TEXT} for name in ("echo", "ask", "log", "count")]
)


def write(message: JsonObject) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def reply(request: JsonObject, result: JsonObject) -> None:
    if request.get("params", {}).get("_meta", {}).get(VERSION):
        stamp = {"io.modelcontextprotocol/serverInfo": {"name": "fake", "version": "1"}}
        result = {"resultType": "complete", **result}
        result["_meta"] = {**result.get("_meta", {}), **stamp}
    write({"jsonrpc": "2.0", "id": request["id"], "result": result})


def fail(request: JsonObject, code: int, message: str, data: Any = None) -> None:
    error = {"code": code, "message": message}
    if data is not None:
        error["data"] = data
    write({"jsonrpc": "2.0", "id": request["id"], "error": error})


def read() -> JsonObject | None:
    line = sys.stdin.readline()
    if not line:
        return None
    if "log" in OPTIONS:
        with open(OPTIONS["log"], "a") as file:
            file.write(line)
    message: JsonObject = json.loads(line)
    return message


def misbehave(how: str) -> None:
    if how == "crash":
        os.kill(os.getpid(), signal.SIGKILL)
    if how == "exit":
        print("giving up: no database", file=sys.stderr, flush=True)
        sys.exit(3)
    if how == "hang":
        time.sleep(600)
    if how == "wait":
        while mood() == how:
            time.sleep(0.02)
    if how == "mute":
        os.close(1)
        time.sleep(600)
    if how == "garbage":
        print("Listening on nothing...\n\x00\xff{]\n[1,2]\n42", flush=True)


def mood() -> str:
    if "mood" not in OPTIONS:
        return str(OPTIONS.get("initialize", ""))
    with open(OPTIONS["mood"]) as file:
        return file.read()


def on_discover(request: JsonObject) -> None:
    how = OPTIONS.get("discover", "error")
    if how == "answer":
        capabilities = OPTIONS.get("capabilities", {"tools": {}})
        result = {"supportedVersions": ["2026-07-28"], "capabilities": capabilities}
        reply(request, {**result, "ttlMs": 0, "cacheScope": "private"})
    elif how == "unsupported":
        fail(request, -32022, "Unsupported protocol version", {"supported": OPTIONS["supported"]})
    elif how == "error":
        fail(request, -32601, "Method not found")
    elif how != "silent":
        misbehave(how)


def on_initialize(request: JsonObject) -> None:
    if mood() == "refuse":
        fail(request, -32022, "Unsupported protocol version", {"supported": ["2026-07-28"]})
        return
    misbehave(mood())
    version = OPTIONS.get("version") or request["params"]["protocolVersion"]
    capabilities = OPTIONS.get("capabilities", {"tools": {"listChanged": True}})
    info = {"name": "fake", "version": "1"}
    reply(request, {"protocolVersion": version, "capabilities": capabilities, "serverInfo": info})


def on_list(request: JsonObject) -> None:
    start = int(request.get("params", {}).get("cursor", 0))
    size = OPTIONS.get("page", 1000)
    result: JsonObject = {"tools": TOOLS[start : start + size]}
    if start + size < len(TOOLS):
        result["nextCursor"] = str(start + size)
    reply(request, result)


def on_call(request: JsonObject) -> None:
    params = request["params"]
    TOOL_TABLE.get(params["name"], echo)(request, params.get("arguments", {}))


def echo(request: JsonObject, arguments: JsonObject) -> None:
    reply(request, {"content": [], "structuredContent": request["params"]})


def give(request: JsonObject, arguments: JsonObject) -> None:
    reply(request, arguments)


def raise_error(request: JsonObject, arguments: JsonObject) -> None:
    fail(request, arguments["code"], arguments["message"], arguments.get("data"))


def die(request: JsonObject, arguments: JsonObject) -> None:
    misbehave(arguments["how"])


def count(request: JsonObject, arguments: JsonObject) -> None:
    with open(arguments["file"], "a") as file:
        file.write(arguments.get("note", "x"))
    misbehave(arguments.get("how", ""))
    reply(request, {"content": [], "structuredContent": {"pid": os.getpid()}})


def big(request: JsonObject, arguments: JsonObject) -> None:
    reply(request, {"content": [{"type": "text", "text": "x" * arguments["size"]}]})


def ask(request: JsonObject, arguments: JsonObject) -> None:
    write(
        {"jsonrpc": "2.0", "id": "q1", "method": arguments["method"], "params": arguments["params"]}
    )
    answer = read() or {}
    reply(request, {"content": [], "structuredContent": answer})


def unreadable(request: JsonObject, arguments: JsonObject) -> None:
    """A line that is not JSON, with the id of the request where it says ID."""
    sys.stdout.write(arguments["line"].replace("ID", str(request["id"])) + "\n")
    sys.stdout.flush()


def progress(request: JsonObject, arguments: JsonObject) -> None:
    token = request["params"].get("_meta", {}).get("progressToken")
    for step in range(arguments["steps"]):
        params = {"progressToken": token, "progress": step, "message": f"step {step}", "x": 1}
        write({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})
    reply(request, {"content": []})


def log(request: JsonObject, arguments: JsonObject) -> None:
    params = {"level": "info", "logger": "fake", "data": arguments}
    write({"jsonrpc": "2.0", "method": "notifications/message", "params": params})
    reply(request, {"content": []})


def stall(request: JsonObject, arguments: JsonObject) -> None:
    """Say that the call has arrived, and never answer."""
    params = {"level": "info", "data": "stalling"}
    write({"jsonrpc": "2.0", "method": "notifications/message", "params": params})


def tick(request: JsonObject, arguments: JsonObject) -> None:
    """Report progress for a while, or for ever."""
    token = request["params"].get("_meta", {}).get("progressToken")
    for step in range(arguments["steps"]):
        params = {"progressToken": token, "progress": step}
        write({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})
        time.sleep(0.1)
    reply(request, {"content": []})


def grow(request: JsonObject, arguments: JsonObject) -> None:
    TOOLS.append({"name": arguments["name"], "inputSchema": TEXT})
    write({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
    reply(request, {"content": []})


def environment(request: JsonObject, arguments: JsonObject) -> None:
    reply(request, {"content": [], "structuredContent": dict(os.environ)})


TOOL_TABLE = {
    "give": give,
    "raise": raise_error,
    "die": die,
    "count": count,
    "big": big,
    "ask": ask,
    "unreadable": unreadable,
    "progress": progress,
    "log": log,
    "stall": stall,
    "tick": tick,
    "grow": grow,
    "environment": environment,
}


def on_listen(request: JsonObject) -> None:
    """Acknowledge, and end the first one as a server that is going down would."""
    tag = {"io.modelcontextprotocol/subscriptionId": request["id"]}
    params = {"_meta": tag, "notifications": request["params"]["notifications"]}
    method = "notifications/subscriptions/acknowledged"
    write({"jsonrpc": "2.0", "method": method, "params": params})
    LISTENS.append(request["id"])
    if len(LISTENS) == 1 and "ends" in OPTIONS:
        ended = {"requestId": request["id"]}
        write({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": ended})


LISTENS: list[int] = []
METHODS: dict[str, Callable[[JsonObject], None]] = {
    "server/discover": on_discover,
    "initialize": on_initialize,
    "subscriptions/listen": on_listen,
    "tools/list": on_list,
    "tools/call": on_call,
    "prompts/get": lambda request: echo(request, {}),
    "resources/read": lambda request: echo(request, {}),
    "completion/complete": lambda request: echo(request, {}),
    "logging/setLevel": lambda request: reply(request, {}),
    "ping": lambda request: reply(request, {}),
}


def main() -> None:
    time.sleep(OPTIONS.get("slow", 0))
    while "gate" in OPTIONS and not os.path.exists(OPTIONS["gate"]):
        time.sleep(0.01)
    while (message := read()) is not None:
        if "id" not in message or "method" not in message:
            continue
        method = METHODS.get(message["method"])
        if method is None:
            fail(message, -32601, "Method not found")
        else:
            method(message)


if __name__ == "__main__":
    main()
