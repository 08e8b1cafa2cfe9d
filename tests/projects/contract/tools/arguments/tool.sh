#!/usr/bin/env bash
set -euo pipefail
# shellcheck source=/dev/null
source "${MCP_SDK:?}/tool-sdk.sh"
name=$(mcp_args_require '.name')
times=$(mcp_args_int '.times' --default 1 --min 1 --max 5)
loud=$(mcp_args_bool '.loud' --default false)
trace=$(mcp_meta_get '."example.com/trace"')
word=$(mcp_args_get '.word' --default hello)
mcp_result_success "$(mcp_json_obj name "$name" times "$times" loud "$loud" trace "$trace" \
	word "$word" list "$(mcp_json_arr a 'b "c"')" bytes "$(mcp_byte_length "é")" \
	raw "$(mcp_is_valid_json "$(mcp_args_raw)" && echo valid)")"
