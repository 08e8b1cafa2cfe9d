"""An MCP server on pipes that speaks both eras and has tasks in the modern one alone. No SDK.

Its tool `must` runs only as a task: who has not declared the extension is refused, in either era.
"""

from __future__ import annotations

import json
import sys
from typing import Any

TASKS = "io.modelcontextprotocol/tasks"
TIMES = {"createdAt": "2026-01-01T00:00:00Z", "lastUpdatedAt": "2026-01-01T00:00:00Z"}
TASK: dict[str, Any] = {"taskId": "t", "ttlMs": None, "pollIntervalMs": 50, **TIMES}
NEEDS: dict[str, Any] = {"extensions": {TASKS: {}}}
REFUSAL = {"code": -32021, "message": "Not so", "data": {"requiredCapabilities": NEEDS}}
DONE = {"resultType": "complete", "content": [{"type": "text", "text": "done"}]}
LISTS = {"tools": [{"name": "must", "inputSchema": {"type": "object"}}]}
CACHED = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}


def outcome(method: str, params: dict[str, Any]) -> dict[str, Any]:
    meta = params.get("_meta", {})
    declared = meta.get("io.modelcontextprotocol/clientCapabilities", {}).get("extensions", {})
    if method == "tools/call" and TASKS not in declared:
        return {"error": REFUSAL}
    results: dict[str, dict[str, Any]] = {
        "initialize": {
            "protocolVersion": params.get("protocolVersion"),
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "two eras", "version": "1"},
        },
        "server/discover": {
            **CACHED,
            "supportedVersions": ["2026-07-28"],
            "capabilities": {"tools": {}, **NEEDS},
        },
        "tools/list": {**CACHED, **LISTS} if meta else LISTS,
        "tools/call": {**TASK, "resultType": "task", "status": "working"},
        "tasks/get": {**TASK, "resultType": "complete", "status": "completed", "result": DONE},
    }
    if method not in results:
        return {"error": {"code": -32601, "message": "Method not found"}}
    return {"result": results[method]}


for line in sys.stdin:
    request = json.loads(line)
    if "id" in request:
        answer = outcome(request.get("method", ""), request.get("params", {}))
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **answer}), flush=True)
