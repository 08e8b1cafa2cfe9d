#!/usr/bin/env -S python3 -IS
import json, os

id = json.loads(os.environ["MCP_TEMPLATE_ARGS_JSON"])["id"]
data = {"id": id, "templateTest": True, "data": f"Data for ID: {id}"}
print(json.dumps(data, separators=(",", ":")), end="")
