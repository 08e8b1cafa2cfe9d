#!/usr/bin/env bash
# shellcheck source=/dev/null
source "${MCP_SDK:?}/tool-sdk.sh"
name="$(mcp_args_require '.name' 'Who is it?')"
times="$(mcp_args_int '.times' --default 2 --min 1 --max 5)"
loud="$(mcp_args_bool '.loud' --default false)"
word="$(mcp_args_get '.word // "hello"')"
mcp_result_success "$(mcp_json_obj name "$name" times "$times" loud "$loud" word "$word" \
	none "$(mcp_args_get '.none' --default nothing)" raw "$(mcp_args_raw)" \
	trace "$(mcp_meta_get '.trace')" meta "$(mcp_meta_raw)")"
