#!/usr/bin/env bash
# What the tool does. Its name, description and arguments are in tool.meta.json.
source "${MCP_SDK:?run it with: toolyard run-tool @NAME@}/tool-sdk.sh"

name=$(mcp_args_get '.name' --default 'world')

# One JSON object is the result: clients get it as structured content and as text.
mcp_emit_json "$(mcp_json_obj message "Hello, $name!")"
