#!/usr/bin/env bash
# Asked before every call, with the tool's name and its metadata. A status other than 0
# refuses the call; whatever goes wrong in here refuses it too.

mcp_tools_policy_check() {
	local name=$1 metadata=$2 reads
	reads=$(printf '%s' "$metadata" | "$MCPBASH_JSON_TOOL_BIN" -r '.annotations.readOnlyHint // false')
	if [[ $reads == true || ${POLICY_ALLOW_WRITES:-} == true ]]; then
		return 0
	fi
	mcp_logging_warning "refused $name"
	mcp_tools_error -32602 "$name changes something; start the server with POLICY_ALLOW_WRITES=true"
	return 1
}
