# shellcheck shell=bash
# Loads a policy, given as its path, and answers checks until its input ends.
#
# Requests come on 7 as id, name, metadata; answers go to 8, each in one write of less than
# a page, so that those of several checks do not mix. A check runs in a fork of its own:
# what it sets, and whether it exits, is nobody else's business. Of several answers to one
# request the first counts.
#
# A check fails closed: it is not called where its status is looked at, so that the policy's
# own `set -e` holds in it, and a command that does not exist answers for it, at once (before
# bash 4, unless its status is looked at).

exec 7<&0 8>&1 0</dev/null 1>&2
__toolyard_log() { local level=$1; shift; printf '\036%s %s\n' "$level" "$*" >&2; }
mcp_logging_debug() { __toolyard_log debug "$@"; }
mcp_logging_info() { __toolyard_log info "$@"; }
mcp_logging_warning() { __toolyard_log warning "$@"; }
mcp_logging_warn() { __toolyard_log warning "$@"; }
mcp_logging_error() { __toolyard_log error "$@"; }
mcp_tools_error() {
	_MCP_TOOLS_ERROR_CODE=${1-}
	_MCP_TOOLS_ERROR_MESSAGE=${2-}
	_MCP_TOOLS_ERROR_DATA=${3-}
}
mcp_tools_policy_check() { __toolyard_decided=no; }

# JSON FLAGS FILTER DEFAULT: what the JSON tool gives, or the default.
mcp_json_extract_optional() {
	local IFS=' ' __toolyard_value
	# shellcheck disable=SC2086  # several flags in one word
	__toolyard_value=$("${MCPBASH_JSON_TOOL_BIN:-jq}" ${2-} "${3-.}" <<<"${1-}" 2>/dev/null) ||
		__toolyard_value=''
	printf '%s\n' "${__toolyard_value:-${4-}}"
}

__toolyard_escape() {
	if ! declare -F __mcp_quote >/dev/null; then
		# shellcheck source=parts/json-write.sh
		. "$MCP_SDK/parts/json-write.sh"
		# shellcheck source=parts/strings.sh
		. "$MCP_SDK/parts/strings.sh"
	fi
	__mcp_quote "${1-}"
}
mcp_json_quote_text() {
	__toolyard_escape "$@"
	printf '%s\n' "$__mcp_quoted"
}
mcp_json_escape_string() {
	__toolyard_escape "$@"
	printf '%s\n' "${__mcp_quoted:1:${#__mcp_quoted}-2}"
}

# STATUS
__toolyard_answer() {
	local LC_ALL=C
	local data=${_MCP_TOOLS_ERROR_DATA-}
	[ "${#data}" -le 2000 ] || data=''
	printf '%s\0%s\0%s\0%s\0%s\0%s\0' "$__toolyard_id" "$1" "$__toolyard_decided" \
		"${_MCP_TOOLS_ERROR_CODE-}" "${_MCP_TOOLS_ERROR_MESSAGE:0:1500}" "$data" >&8
}

# COMMAND: called by bash, in a process of its own. While the policy is loaded, that ends.
__toolyard_not_found() {
	local why="$1: command not found"
	printf '%s: line %s: %s\n' "$__toolyard_file" "${BASH_LINENO[1]}" "$why" >&2
	if [ -z "${__toolyard_id-}" ]; then
		kill "$$"
	else
		trap - EXIT ERR
		mcp_tools_error -32603 "Tool '$__toolyard_name' blocked: $__toolyard_file: $why"
		__toolyard_answer 127
	fi
	return 127
}

# STATUS LINE COMMAND, of what has just failed; the last one is why errexit ended the check.
__toolyard_failed() {
	case $3 in
	mcp_tools_policy_check* | return*) return 0 ;;
	esac
	__toolyard_why="line $2: $3 (status $1)"
	if [ "$1" -eq 127 ] && [ "${BASH_VERSINFO[0]}" -lt 4 ]; then
		__toolyard_not_found "${3%% *}"
	fi
}

# STATUS: at the end of a check, however it ended.
__toolyard_ended() {
	if [ "$1" -ne 0 ] && [ -z "$_MCP_TOOLS_ERROR_MESSAGE" ] && [ -n "$__toolyard_why" ]; then
		case $- in
		*e*)
			_MCP_TOOLS_ERROR_MESSAGE="Tool '$__toolyard_name' blocked by policy"
			_MCP_TOOLS_ERROR_MESSAGE="$_MCP_TOOLS_ERROR_MESSAGE ($__toolyard_file, $__toolyard_why)"
			;;
		esac
	fi
	__toolyard_answer "$1"
}

__toolyard_file=${1##*/}
# shellcheck disable=SC2329  # bash calls it
command_not_found_handle() { __toolyard_not_found "$@"; }
# shellcheck source=/dev/null
source "$1"
__toolyard_status=$?
[ "$__toolyard_status" -eq 0 ] || exit "$__toolyard_status"
# Whatever the policy made of it.
command_not_found_handle() { __toolyard_not_found "$@"; }
while IFS= read -r -d '' -u 7 __toolyard_id &&
	IFS= read -r -d '' -u 7 __toolyard_name &&
	IFS= read -r -d '' -u 7 __toolyard_metadata; do
	(
		__toolyard_decided=yes __toolyard_why=''
		_MCP_TOOLS_ERROR_CODE='' _MCP_TOOLS_ERROR_MESSAGE='' _MCP_TOOLS_ERROR_DATA=''
		trap '__toolyard_ended "$?"' EXIT
		set -E
		trap '__toolyard_failed "$?" "$LINENO" "$BASH_COMMAND"' ERR
		mcp_tools_policy_check "$__toolyard_name" "$__toolyard_metadata"
	) &
done
wait
