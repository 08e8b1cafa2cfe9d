"""An MCP server on pipes, of 2026-07-28, that wants its tasks looked at once an hour. No SDK.

Its tool `asks` asks one question, and is over as soon as that was answered.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

TASKS = "io.modelcontextprotocol/tasks"
PACE: dict[str, Any] = {"taskId": "t", "ttlMs": None, "pollIntervalMs": 3_600_000}
TIMES = {"createdAt": "2026-01-01T00:00:00Z", "lastUpdatedAt": "2026-01-01T00:00:00Z"}
FORM = {"type": "object", "properties": {"name": {"type": "string"}}}
QUESTION = {
    "method": "elicitation/create",
    "params": {"mode": "form", "message": "Who?", "requestedSchema": FORM},
}
ANSWERS: dict[str, Any] = {}


def state(_params: dict[str, Any]) -> dict[str, Any]:
    if not ANSWERS:
        return {**PACE, **TIMES, "status": "input_required", "inputRequests": {"q": QUESTION}}
    text = json.dumps(ANSWERS["q"]["content"])
    result = {"resultType": "complete", "content": [{"type": "text", "text": text}]}
    return {**PACE, **TIMES, "status": "completed", "result": result}


def update(params: dict[str, Any]) -> dict[str, Any]:
    ANSWERS.update(params["inputResponses"])
    return {}


ABLE: dict[str, Any] = {"tools": {}, "extensions": {TASKS: {}}}
METHODS: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "server/discover": lambda _: {"supportedVersions": ["2026-07-28"], "capabilities": ABLE},
    "tools/list": lambda _: {"tools": [{"name": "asks", "inputSchema": {"type": "object"}}]},
    "tools/call": lambda _: {"resultType": "task", **PACE, **TIMES, "status": "working"},
    "tasks/get": state,
    "tasks/update": update,
}

for line in sys.stdin:
    request = json.loads(line)
    if "id" in request and request.get("method") in METHODS:
        result = METHODS[request["method"]](request["params"])
        shared = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
        answer = {"jsonrpc": "2.0", "id": request["id"], "result": {**shared, **result}}
        print(json.dumps(answer), flush=True)
    elif "id" in request:
        error = {"code": -32601, "message": "Method not found"}
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "error": error}), flush=True)
