#!/usr/bin/env bash
set -euo pipefail
# shellcheck source=/dev/null
source "${MCP_SDK:?}/tool-sdk.sh"
inside=no
! mcp_roots_contains "$(mcp_args_get '.path')" || inside=yes
mcp_result_success "$(mcp_json_obj count "$(mcp_roots_count)" list "$(mcp_roots_list)" inside "$inside")"
