#!/usr/bin/env bash
token=${MCP_PROGRESS_TOKEN_JSON:-${MCP_PROGRESS_TOKEN:+\"$MCP_PROGRESS_TOKEN\"}}
report() {
	[[ -n $token ]] || return 0
	printf '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%d,"total":100}}\n' "$token" "$1" >>"${MCP_PROGRESS_STREAM:?}"
}
report 0
sleep 0.05
report 50
sleep 0.05
report 100
printf 'Tool with progress executed successfully'
