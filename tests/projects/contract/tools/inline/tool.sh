#!/usr/bin/env bash
# mcp: {"name":"inline","description":"Described in its own file","arguments":{"type":"object","properties":{"x":{"type":"string"}}}}
printf 'inline %s' "$MCP_TOOL_ARGS_JSON"
