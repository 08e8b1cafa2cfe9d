# shellcheck shell=bash
# What the client sent: the tool's arguments, the request's _meta, and its cancellation.

mcp_args_raw() {
	eval "$__mcp_untraced"
	__mcp_load_arguments
	printf '%s\n' "$__mcp_document"
}

# FILTER [--default VALUE]: as `jq -rc` prints it; the default stands for null and nothing.
mcp_args_get() {
	eval "$__mcp_untraced"
	__mcp_load_arguments
	__mcp_print_from "$@"
}

mcp_meta_raw() {
	eval "$__mcp_untraced"
	__mcp_load_meta
	printf '%s\n' "$__mcp_document"
}

mcp_meta_get() {
	eval "$__mcp_untraced"
	__mcp_load_meta
	__mcp_print_from "$@"
}

# FILTER [MESSAGE]: the value, or the call fails with -32602.
mcp_args_require() {
	eval "$__mcp_untraced"
	local filter=${1:?mcp_args_require needs a filter} message=${2-}
	__mcp_load_arguments
	if ! __mcp_get_present "$filter" || [ -z "$__mcp_text" ]; then
		mcp_fail_invalid_args "${message:-Missing required argument: ${filter#.}}"
	fi
	printf '%s\n' "$__mcp_text"
}

# FILTER [--default true|false]: prints true or false.
mcp_args_bool() {
	eval "$__mcp_untraced"
	local filter default given min max
	__mcp_parse_options "$@"
	__mcp_load_arguments
	__mcp_get_present "$filter" || __mcp_text=$default
	case $__mcp_text in
	true | True | TRUE | 1 | yes | on) printf 'true\n' ;;
	false | False | FALSE | 0 | no | off) printf 'false\n' ;;
	'') mcp_fail_invalid_args "Missing required argument: ${filter#.}" ;;
	*) mcp_fail_invalid_args "${filter#.} must be true or false, not: $__mcp_text" ;;
	esac
}

# FILTER [--default N] [--min N] [--max N]: prints the integer.
mcp_args_int() {
	eval "$__mcp_untraced"
	local filter default given min max value pattern='^-?[0-9]{1,18}$'
	__mcp_parse_options "$@"
	__mcp_load_arguments
	__mcp_get_present "$filter" || __mcp_text=$default
	value=${__mcp_text%.0}
	[ -n "$value" ] || mcp_fail_invalid_args "Missing required argument: ${filter#.}"
	[[ $value =~ $pattern ]] || mcp_fail_invalid_args "${filter#.} must be an integer, not: $value"
	if [ -n "$min" ] && [ "$value" -lt "$min" ]; then
		mcp_fail_invalid_args "${filter#.} must be at least $min, not $value"
	fi
	if [ -n "$max" ] && [ "$value" -gt "$max" ]; then
		mcp_fail_invalid_args "${filter#.} must be at most $max, not $value"
	fi
	printf '%s\n' "$value"
}

# -> `filter`, `default`, `min` and `max` of its caller, and `given`: is there a default?
__mcp_parse_options() {
	filter=. default='' given=false min='' max=''
	while [ $# -gt 0 ]; do
		case $1 in
		--default | --min | --max)
			if [ $# -lt 2 ]; then
				printf 'mcp: %s needs a value\n' "$1" >&2
				return 2
			fi
			case $1 in
			--default) default=$2 given=true ;;
			--min) min=$2 ;;
			--max) max=$2 ;;
			esac
			shift
			;;
		*) filter=$1 ;;
		esac
		shift
	done
}

# FILTER [--default VALUE], on __mcp_document.
__mcp_print_from() {
	local filter default given min max status=0
	__mcp_parse_options "$@"
	if $given; then
		__mcp_get_present "$filter" || __mcp_text=$default
		printf '%s\n' "$__mcp_text"
		return 0
	fi
	__mcp_get "$__mcp_document" "$filter" || status=$?
	case $status in
	0) printf '%s\n' "$__mcp_text" ;;
	4) ;;
	*) return $status ;;
	esac
}

# FILTER -> __mcp_text; fails for null, for nothing and for a path that leads nowhere.
__mcp_get_present() {
	__mcp_get "$__mcp_document" "$1" 2>/dev/null || return 1
	[ "$__mcp_text" != null ] || [ "${__mcp_value-}" != null ]
}

# Large payloads come in a file, because an environment has a limit.
__mcp_load_arguments() {
	__mcp_load_document "${MCP_TOOL_ARGS_JSON-}" "${MCP_TOOL_ARGS_FILE-}"
}

__mcp_load_meta() {
	__mcp_load_document "${MCP_TOOL_META_JSON-}" "${MCP_TOOL_META_FILE-}"
}

__mcp_load_document() {
	__mcp_document=$1
	[ -z "$1" ] || return 0
	[ -z "$2" ] || [ ! -s "$2" ] || __mcp_document=$(<"$2")
	[ -n "$__mcp_document" ] || __mcp_document='{}'
}

__mcp_arguments_read() {
	eval "$__mcp_untraced"
	__mcp_document=${MCP_TOOL_ARGS_JSON-}
	[ -n "$__mcp_document" ] || return 0
	__mcp_scan "$__mcp_document" || return 0
}

mcp_is_cancelled() {
	eval "$__mcp_untraced"
	[ -n "${MCP_CANCEL_FILE-}" ] && [ -e "$MCP_CANCEL_FILE" ]
}
