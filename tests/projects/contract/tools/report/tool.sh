#!/usr/bin/env bash
set -euo pipefail
# shellcheck source=/dev/null
source "${MCP_SDK:?}/tool-sdk.sh"
for step in 1 2 3; do mcp_progress "$step" "step $step" 3; done
mcp_log_debug report "too fine"
mcp_log_info report "for information"
mcp_log_warn "beware"
mcp_log error report '{"code":7}'
mcp_emit_text "reported"
