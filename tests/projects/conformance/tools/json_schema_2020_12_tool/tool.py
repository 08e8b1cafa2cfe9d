#!/usr/bin/env -S python3 -IS
import os

# A sentence, not JSON, so that it stays plain text.
print("Accepted:", os.environ["MCP_TOOL_ARGS_JSON"], end="")
