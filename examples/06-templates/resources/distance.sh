#!/usr/bin/env bash
# A template that names a script: the variables arrive as JSON.
source "${MCP_SDK:?}/tool-sdk.sh"

variable() {
	printf '%s' "$MCP_TEMPLATE_ARGS_JSON" | "$MCPBASH_JSON_TOOL_BIN" -r ".$1"
}
from=$(variable from) to=$(variable to)
case "$from $to" in
'Oslo Bergen' | 'Bergen Oslo') km=305 ;;
'Oslo Turin' | 'Turin Oslo') km=1640 ;;
*) mcp_fail -32002 'Resource not found' ;;
esac
printf '{"from": "%s", "to": "%s", "km": %d}\n' "$from" "$to" "$km"
