#!/usr/bin/env bash
# shellcheck source=/dev/null
source "${MCP_SDK:?}/tool-sdk.sh"
path="$(mcp_require_path '.path')"
echo "$path" >"$MCPBASH_PROJECT_ROOT/written"
