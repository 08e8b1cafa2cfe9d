#!/usr/bin/env -S python3 -IS
import json, os, time

arguments = json.loads(os.environ["MCP_TOOL_ARGS_JSON"])
time.sleep(arguments.get("seconds", 0))
print(f"{arguments.get('label', 'it')} is computed", end="")
