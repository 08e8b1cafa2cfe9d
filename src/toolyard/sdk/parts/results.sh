# shellcheck shell=bash
# What a tool returns when it succeeds: text, JSON, or a whole CallToolResult.

mcp_emit_text() {
	printf '%s' "${1-}"
}

mcp_emit_json() {
	if ! __mcp_compact "${1-}"; then
		printf 'mcp_emit_json: not JSON: %s\n' "${1-}" >&2
		return 1
	fi
	printf '%s' "$__mcp_json"
}

# DATA [MAX_TEXT_BYTES]: data that is not JSON is taken as a string.
mcp_result_success() {
	local envelope most=${2:-${MCPBASH_MAX_TEXT_BYTES:-102400}}
	__mcp_compact_or_string "${1-null}"
	envelope="{\"success\":true,\"result\":$__mcp_json}"
	__mcp_count_bytes "$envelope"
	if [ "$__mcp_bytes" -gt "$most" ]; then
		__mcp_summarize "$__mcp_json"
		__mcp_quote "$__mcp_text"
	else
		__mcp_quote "$envelope"
	fi
	__mcp_print_result "$__mcp_quoted" "$envelope" false
}

__mcp_compact_or_string() {
	__mcp_compact "$1" && return 0
	__mcp_quote "$1"
	__mcp_json=$__mcp_quoted
}

# QUOTED_TEXT STRUCTURED_CONTENT IS_ERROR
__mcp_print_result() {
	printf '{"content":[{"type":"text","text":%s}],"structuredContent":%s,"isError":%s}\n' "$1" "$2" "$3"
}
