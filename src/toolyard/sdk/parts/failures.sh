# shellcheck shell=bash
# What a tool says when it cannot do its work, or has too much to say.

# ERROR: an object with `type` and `message`, or a message.
mcp_result_error() {
	local envelope
	if ! __mcp_compact "${1-}"; then
		__mcp_quote "${1:-Unknown error}"
		__mcp_json="{\"type\":\"internal_error\",\"message\":$__mcp_quoted}"
	fi
	envelope="{\"success\":false,\"error\":$__mcp_json}"
	__mcp_quote "$envelope"
	__mcp_print_result "$__mcp_quoted" "$envelope" true
}

# TYPE MESSAGE [--hint TEXT] [--data JSON]: an error that the model can read and act on.
mcp_error() {
	local error
	__mcp_quote "${1:-internal_error}"
	error="{\"type\":$__mcp_quoted"
	__mcp_quote "${2:-Unknown error}"
	error="$error,\"message\":$__mcp_quoted"
	[ $# -lt 2 ] || shift 2
	while [ $# -gt 1 ]; do
		case $1 in
		--hint)
			__mcp_quote "$2"
			error="$error,\"hint\":$__mcp_quoted"
			;;
		--data)
			__mcp_compact_or_string "$2"
			error="$error,\"data\":$__mcp_json"
			;;
		esac
		shift 2
	done
	mcp_result_error "$error}"
}

# CODE MESSAGE [DATA]: ends the tool; the client gets a JSON-RPC error.
mcp_fail() {
	local code=${1:--32603} error
	[[ $code =~ ^-?[0-9]+$ ]] || code=-32603
	__mcp_quote "${2:-Tool failed}"
	error="{\"code\":$code,\"message\":$__mcp_quoted"
	if [ -n "${3-}" ]; then
		__mcp_compact_or_string "$3"
		error="$error,\"data\":$__mcp_json"
	fi
	error="$error}"
	# Inside $(...) stdout is not seen, and by hand there is no file.
	if [ -n "${MCP_TOOL_ERROR_FILE-}" ]; then
		{ printf '%s\n' "$error" >"$MCP_TOOL_ERROR_FILE"; } 2>/dev/null || :
	else
		printf '%s\n' "${2:-Tool failed}" >&2
	fi
	printf '%s\n' "$error"
	exit 1
}

mcp_fail_invalid_args() {
	mcp_fail -32602 "${1:-Invalid arguments}" "${2-}"
}

# JSON -> __mcp_text: what the text says when the data is too long for it.
__mcp_summarize() {
	local json=$1 count=''
	case $json in
	\[* | \{*) __mcp_get "$json" length 2>/dev/null && count=$__mcp_text ;;
	esac
	case $json in
	\[*) __mcp_text="Success: an array of $count items" ;;
	\{*) __mcp_text="Success: an object of $count fields" ;;
	*) __mcp_text="Success: a value of ${#json} characters" ;;
	esac
	__mcp_text="$__mcp_text, too long for the text; structuredContent has all of it."
}
