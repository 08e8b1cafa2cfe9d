#!/usr/bin/env -S python3 -IS
import json, os

arguments = json.loads(os.environ["MCP_TOOL_ARGS_JSON"])
print(f"Region: {arguments.get('region')}", end="")
