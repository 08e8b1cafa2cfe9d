#!/usr/bin/env bash
# shellcheck source=/dev/null
source "${MCP_SDK:?}/tool-sdk.sh"
case "$(mcp_args_require '.how')" in
text) mcp_emit_text 'plain "text"' ;;
json) mcp_emit_json ' { "n" : [1, 2] } ' ;;
success) mcp_result_success '{"n": 1}' ;;
long) mcp_result_success '[1,2,3]' 10 ;;
bad) mcp_result_success 'not {json' ;;
error) mcp_error not_found 'No "x"' --hint 'Look at y' --data 'not json' ;;
result) mcp_result_error '{"type":"quota","message":"all gone"}' ;;
words) mcp_result_error 'it broke' ;;
fail) mcp_fail -32050 'it failed' '{"why":"asked to"}' ;;
arguments) mcp_fail_invalid_args 'no such thing' ;;
files)
	printf 'inside\n' >"$MCPBASH_PROJECT_ROOT/inside.md"
	mcp_result_text_with_resource '{"files": 2}' --path "$MCPBASH_PROJECT_ROOT/inside.md" \
		--uri own://inside --path /etc/hostname --path missing.txt
	;;
esac
