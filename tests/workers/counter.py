"""A raw MCP server on pipes that remembers: who it is, how often it was asked, what it grew."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from pathlib import Path
from typing import Any

JsonObject = dict[str, Any]
RESOURCE = {"uri": "mem://count", "name": "count"}
TOOLS = ["pid", "bump", "grow", "steps", "fail", "wait"]
STATE: JsonObject = {"count": 0, "subscribed": False, "cancelled": False}
LOCK = threading.Lock()


def write(message: JsonObject) -> None:
    with LOCK:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        sys.stdout.flush()


def told(method: str, **params: Any) -> None:
    write({"method": method, "params": params})


def said(value: Any) -> JsonObject:
    return {"content": [{"type": "text", "text": json.dumps(value)}]}


def call(name: str, arguments: JsonObject, meta: JsonObject) -> JsonObject:
    if name == "bump":
        STATE["count"] += 1
        if STATE["subscribed"]:
            told("notifications/resources/updated", uri=RESOURCE["uri"])
    if name == "grow":
        TOOLS.append(arguments["name"])
        told("notifications/tools/list_changed")
    if name == "steps":
        for step in (1, 2, 3):
            told("notifications/progress", progressToken=meta["progressToken"], progress=step)
        told("notifications/message", level="error", data="done", logger="counter")
    return said([os.getpid(), STATE["count"]])


def wait(request: JsonObject, file: Path) -> None:
    Path(f"{file}.began").write_text("x")
    while not file.exists() and not STATE["cancelled"]:
        time.sleep(0.01)
    Path(f"{file}.ended").write_text("cancelled" if STATE["cancelled"] else "done")
    write({"id": request["id"], "result": said("waited")})


def answer(request: JsonObject) -> JsonObject | None:
    method, params = request["method"], request.get("params", {})
    if method == "initialize":
        lists = {"listChanged": True}
        able = {"tools": lists, "resources": {**lists, "subscribe": True}, "logging": {}}
        info = {"name": "counter", "version": "1"}
        version = params["protocolVersion"]
        return {"protocolVersion": version, "capabilities": able, "serverInfo": info}
    if method == "tools/list":
        return {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in TOOLS]}
    if method == "resources/list":
        return {"resources": [RESOURCE]}
    if method == "resources/read":
        return {"contents": [{"uri": RESOURCE["uri"], "text": str(STATE["count"])}]}
    if method == "resources/subscribe":
        STATE["subscribed"] = True
        return {}
    if method == "tools/call" and params["name"] == "wait":
        file = Path(params["arguments"]["file"])
        threading.Thread(target=wait, args=(request, file), daemon=True).start()
        return None
    if method == "tools/call" and params["name"] != "fail":
        return call(params["name"], params.get("arguments", {}), params.get("_meta", {}))
    return {} if method in ("ping", "logging/setLevel", "resources/unsubscribe") else None


def refused(request: JsonObject) -> bool:
    method, params = request["method"], request.get("params", {})
    if method == "tools/call" and params["name"] == "fail":
        error = {"code": -31999, "message": "no", "data": {"big": 12345678901234567890123}}
    elif method in ("server/discover", "resources/templates/list", "prompts/list"):
        error = {"code": -32601, "message": "Method not found"}
    else:
        return False
    write({"id": request["id"], "error": error})
    return True


for line in sys.stdin:
    message = json.loads(line)
    if message.get("method") == "notifications/cancelled":
        STATE["cancelled"] = True
    if "id" in message and "method" in message and not refused(message):
        result = answer(message)
        if result is not None:
            write({"id": message["id"], "result": result})
