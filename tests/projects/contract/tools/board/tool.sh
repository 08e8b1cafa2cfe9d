#!/usr/bin/env bash
set -euo pipefail
# shellcheck source=/dev/null
source "${MCP_SDK:?}/tool-sdk.sh"
if mcp_client_supports_ui; then
	mcp_result_with_ui ui://contract/board "three cards" '{"cards":3}'
else
	mcp_emit_text "three cards"
fi
