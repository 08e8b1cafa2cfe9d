#!/usr/bin/env bash
report() {
	[[ -n ${MCP_PROGRESS_TOKEN_JSON:-} ]] || return 0
	printf '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%d,"total":100}}\n' "$MCP_PROGRESS_TOKEN_JSON" "$1" >>"${MCP_PROGRESS_STREAM:?}"
}
report 0
sleep 0.05
report 50
sleep 0.05
report 100
printf 'Tool with progress executed successfully'
