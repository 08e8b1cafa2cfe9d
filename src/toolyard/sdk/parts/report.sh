# shellcheck shell=bash
# What a running tool says meanwhile: progress, log messages, debug notes.
#
# A notification is one line, written at once, so that lines of several writers do not mix.

# PROGRESS MESSAGE [TOTAL]: without a total, per cent.
mcp_progress() {
	eval "$__mcp_untraced"
	[ -n "${MCP_PROGRESS_STREAM-}" ] || return 0
	if [ -z "${MCP_PROGRESS_TOKEN_JSON-}${MCP_PROGRESS_TOKEN-}" ]; then
		__mcp_alive
		return 0
	fi
	local token total='' progress
	__mcp_progress_token
	if ! __mcp_to_number "${1-}"; then
		printf 'mcp_progress: not a number: %s\n' "${1-}" >&2
		return 0
	fi
	progress=$__mcp_json
	if __mcp_to_number "${3-}"; then
		total=",\"total\":$__mcp_json"
	elif __mcp_is_percent "$progress"; then
		total=',"total":100'
	fi
	__mcp_quote "${2-}"
	__mcp_notify "$MCP_PROGRESS_STREAM" notifications/progress \
		"{\"progressToken\":$token,\"progress\":$progress$total,\"message\":$__mcp_quoted}"
}

# From 0 to 100: more than that counts something else.
__mcp_is_percent() {
	[[ $1 =~ ^([0-9]{1,2}(\.[0-9]+)?|100(\.0+)?)$ ]]
}

# Tells the client nothing, but shows the server that the tool is making progress.
__mcp_alive() {
	[ -n "${MCP_PROGRESS_STREAM-}" ] || return 0
	{ printf '\n' >>"$MCP_PROGRESS_STREAM"; } 2>/dev/null || return 0
}

# -> its caller's `token`. The plain variable does not tell "7" from 7; it means the number.
__mcp_progress_token() {
	token=${MCP_PROGRESS_TOKEN_JSON-}
	[ -z "$token" ] || return 0
	token=$MCP_PROGRESS_TOKEN
	[[ $token =~ $__mcp_number ]] && return 0
	__mcp_quote "$token"
	token=$__mcp_quoted
}

# TEXT -> __mcp_json: `50%`, `050` and `.5` become 50, 50 and 0.5.
__mcp_to_number() {
	local number=${1%\%} sign=''
	case $number in
	-*) sign=- number=${number#-} ;;
	+*) number=${number#+} ;;
	esac
	while :; do
		case $number in
		0[0-9]*) number=${number#0} ;;
		*) break ;;
		esac
	done
	case $number in
	.*) number=0$number ;;
	esac
	__mcp_json=$sign${number%.}
	[[ $__mcp_json =~ $__mcp_number ]]
}

# LEVEL LOGGER DATA: data that is not JSON is sent as a string.
mcp_log() {
	eval "$__mcp_untraced"
	[ -n "${MCP_LOG_STREAM-}" ] || return 0
	local level=${1:-info} logger data=${3-}
	__mcp_quote "${2:-${MCP_TOOL_NAME:-tool}}"
	logger=$__mcp_quoted
	if __mcp_compact "$data"; then
		data=$__mcp_json
	else
		__mcp_quote "$data"
		data=$__mcp_quoted
	fi
	__mcp_notify "$MCP_LOG_STREAM" notifications/message \
		"{\"level\":\"$level\",\"logger\":$logger,\"data\":$data}"
}

# [LOGGER] MESSAGE
mcp_log_debug() { eval "$__mcp_untraced"; __mcp_log_message debug "$@"; }
mcp_log_info() { eval "$__mcp_untraced"; __mcp_log_message info "$@"; }
mcp_log_warn() { eval "$__mcp_untraced"; __mcp_log_message warning "$@"; }
mcp_log_error() { eval "$__mcp_untraced"; __mcp_log_message error "$@"; }

__mcp_log_message() {
	local logger=${MCP_TOOL_NAME:-tool} message=${2-}
	if [ $# -gt 2 ]; then
		logger=$2
		message=$3
	fi
	__mcp_quote "$message"
	mcp_log "$1" "$logger" "$__mcp_quoted"
}

mcp_debug() {
	eval "$__mcp_untraced"
	[ -n "${MCPBASH_DEBUG_LOG-}" ] || return 0
	local IFS=' '
	{ printf '[%s +%ss] %s\n' "${MCP_TOOL_NAME:-tool}" "$SECONDS" "$*" >>"$MCPBASH_DEBUG_LOG"; } 2>/dev/null || return 0
}

# STREAM METHOD PARAMS. A stream that has gone must not fail the tool.
__mcp_notify() {
	{ printf '{"jsonrpc":"2.0","method":"%s","params":%s}\n' "$2" "$3" >>"$1"; } 2>/dev/null || return 0
}
