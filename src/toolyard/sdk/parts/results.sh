# shellcheck shell=bash
# What a tool returns when it succeeds: text, JSON, or a whole CallToolResult.

mcp_emit_text() {
	eval "$__mcp_untraced"
	printf '%s' "${1-}"
}

mcp_emit_json() {
	eval "$__mcp_untraced"
	if ! __mcp_compact "${1-}"; then
		printf 'mcp_emit_json: not JSON: %s\n' "${1-}" >&2
		return 1
	fi
	printf '%s' "$__mcp_json"
}

# DATA [MAX_TEXT_BYTES]: data that is not a single JSON value makes an error result.
mcp_result_success() {
	eval "$__mcp_untraced"
	local envelope most=${2:-${MCPBASH_MAX_TEXT_BYTES-}}
	if ! __mcp_compact "${1-}"; then
		__mcp_refuse_data mcp_result_success "${1-}"
		return 0
	fi
	case $most in
	'' | *[!0-9]*) most=102400 ;;
	esac
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
