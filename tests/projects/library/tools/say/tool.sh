#!/usr/bin/env bash
# shellcheck source=/dev/null
source "${MCP_SDK:?}/tool-sdk.sh"
mcp_progress 1 "first" 2
mcp_log_debug fine "too fine"
mcp_log_info own "for information"
mcp_log_warn "beware"
mcp_log_error own "alas"
mcp_log notice own '{"n": 1}'
mcp_debug noted "$(mcp_args_get '.note')"
mcp_progress 2 "second" 2
mcp_is_cancelled && mcp_fail -32000 "cancelled"
mcp_emit_text "said"
