# shellcheck shell=bash
# What a tool says when it cannot do its work, or has too much to say.

# ERROR: an object with `type` and `message`, or a message. Prints an error result.
mcp_result_error() {
	eval "$__mcp_untraced"
	local error
	if __mcp_compact "${1-}" && [ "${__mcp_json:0:1}" = '{' ]; then
		error=$__mcp_json
	elif __mcp_compact "${1-}"; then
		__mcp_wrap_error internal_error 'The error is not a JSON object' "$1"
	else
		__mcp_wrap_error internal_error "${1:-Unknown error}" "${1-}"
	fi
	__mcp_print_error debug
}

# TYPE MESSAGE [--hint TEXT] [--data JSON]: an error that the model can read and act on.
mcp_error() {
	eval "$__mcp_untraced"
	local error level=debug
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
			level=warning
			;;
		--data)
			__mcp_compact "$2" || {
				__mcp_quote "$2"
				__mcp_json="{\"_invalid_json\":$__mcp_quoted}"
			}
			error="$error,\"data\":$__mcp_json"
			;;
		esac
		shift 2
	done
	error="$error}"
	__mcp_print_error $level
}

# TYPE MESSAGE RAW -> its caller's `error`; what was given instead is kept, as far as it is short.
__mcp_wrap_error() {
	__mcp_quote "$1"
	error="{\"type\":$__mcp_quoted"
	__mcp_quote "$2"
	error="$error,\"message\":$__mcp_quoted"
	__mcp_quote "${3:0:4096}"
	error="$error,\"raw\":$__mcp_quoted}"
}

# FUNCTION DATA: what the function was given is not one JSON value.
__mcp_refuse_data() {
	local error why='not a single JSON value'
	[ -n "$2" ] || why='empty'
	__mcp_wrap_error invalid_json "$1: the data is $why" "$2"
	__mcp_print_error debug
}

# LEVEL: the `error` of its caller, logged and as a result whose text is its message.
__mcp_print_error() {
	mcp_log "$1" mcp_error "$error"
	__mcp_get "$error" '.message // ""' 2>/dev/null || __mcp_text=''
	__mcp_quote "${__mcp_text:-$error}"
	__mcp_print_result "$__mcp_quoted" "{\"success\":false,\"error\":$error}" true
}

# CODE MESSAGE [DATA]: ends the tool; the client gets a JSON-RPC error.
mcp_fail() {
	eval "$__mcp_untraced"
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
	eval "$__mcp_untraced"
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
