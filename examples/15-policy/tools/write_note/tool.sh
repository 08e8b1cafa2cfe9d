#!/usr/bin/env bash
source "${MCP_SDK:?}/tool-sdk.sh"
mcp_args_require '.text' >"$MCPBASH_PROJECT_ROOT/note.txt"
mcp_emit_text 'Written.'
