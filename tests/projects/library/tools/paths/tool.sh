#!/usr/bin/env bash
# shellcheck source=/dev/null
source "${MCP_SDK:?}/tool-sdk.sh"
path="$(mcp_require_path '.path' --default-to-single-root --allow-nonexistent)"
inside=no
! mcp_roots_contains /etc || inside=yes
mcp_result_success "$(mcp_json_obj path "$path" count "$(mcp_roots_count)" list "$(mcp_roots_list)" \
	etc "$inside" asked "$(mcp_roots_ask)")"
