"""An MCP server on pipes that lists the prompts it is told to, as they are."""

from __future__ import annotations

import json
import sys

for line in sys.stdin:
    request = json.loads(line)
    method = request.get("method")
    if "id" not in request:
        continue
    answer: dict[str, object] = {"jsonrpc": "2.0", "id": request["id"]}
    if method == "initialize":
        version = request["params"]["protocolVersion"]
        info = {"name": "odd", "version": "1"}
        told = {"protocolVersion": version, "capabilities": {"prompts": {}}, "serverInfo": info}
        answer["result"] = told
    elif method == "prompts/list":
        answer["result"] = {"prompts": json.loads(sys.argv[1])}
    elif method == "prompts/get":
        answer["result"] = {"messages": []}
    else:
        answer["error"] = {"code": -32601, "message": "Method not found"}
    print(json.dumps(answer), flush=True)
