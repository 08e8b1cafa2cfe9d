#!/usr/bin/env bash
# shellcheck source=/dev/null
source "${MCP_SDK:?}/tool-sdk.sh"
valid=no
mcp_is_valid_json '{"a":[1]}' && ! mcp_is_valid_json '{a' && valid=yes
mcp_result_success "$(mcp_json_obj string "$(mcp_json_escape 'a "b"')" array "$(mcp_json_arr x 'y "z"')" \
	valid "$valid" bytes "$(mcp_byte_length 'é')" \
	short "$(mcp_json_truncate '{"items":["aaaa","bbbb"],"n":1}' 25 --array-path .items)" \
	never "$(mcp_json_truncate --array-path .n '{"items":[],"n":1}' 50)")"
