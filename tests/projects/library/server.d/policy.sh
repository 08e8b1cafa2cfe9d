set -euo pipefail
mcp_tools_policy_check() {
	local destructive title
	destructive=$(mcp_json_extract_optional "$2" "-r" '.annotations.destructiveHint // false' "false")
	[ "$destructive" = true ] || return 0
	title=$(mcp_json_extract_optional "$2" "-r" '.description' "$1")
	mcp_logging_warning mcp.policy "denied: $(mcp_json_escape_string "$title")"
	mcp_tools_error -32001 "not without asking" "{\"tool\":$(mcp_json_quote_text "$title")}"
	return 1
}
