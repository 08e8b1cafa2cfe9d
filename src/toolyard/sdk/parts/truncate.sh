# shellcheck shell=bash
# Shorten a JSON array, or one inside an object, to a number of bytes.

# JSON [MAX_BYTES] [--array-path PATH]: {"result":...,"truncated":...,"kept":N,"total":N},
# or {"error":{"type":...,"message":...},"result":null}. The result has at most MAX_BYTES.
# In an object without a path, the longest array among its members is shortened.
mcp_json_truncate() {
	eval "$__mcp_untraced"
	local json='' most='' path='' given=false LC_ALL=C
	local before='' after='' body='' kept=0 total=0 problem='' cut=false
	while [ $# -gt 0 ]; do
		case $1 in
		--array-path | --max-bytes)
			case $1 in
			--array-path) path=${2-} ;;
			*) most=${2-} ;;
			esac
			[ $# -eq 1 ] || shift
			;;
		*)
			if $given; then most=$1; else json=$1 given=true; fi
			;;
		esac
		shift
	done
	case $most in
	'' | *[!0-9]*) most=${MCPBASH_MAX_TEXT_BYTES:-102400} ;;
	esac
	if __mcp_locate_array "$json" "$path"; then
		[ "$kept" -eq "$total" ] || cut=true
		[ $((${#before} + ${#body} + ${#after} + 2)) -le "$most" ] || problem=output_too_large
	elif [ -z "$problem" ]; then
		__mcp_take_whole
		return 0
	fi
	if [ -n "$problem" ]; then
		__mcp_say_why_not
		return 0
	fi
	printf '{"result":%s,"truncated":%s,"kept":%s,"total":%s}\n' "${before}[$body]$after" $cut "$kept" "$total"
}

# What has no array is whole or refused. Works on its caller's variables.
__mcp_take_whole() {
	if ! __mcp_compact "$json"; then
		problem=invalid_json
	elif [ ${#__mcp_json} -gt "$most" ]; then
		problem=output_too_large
	else
		printf '{"result":%s,"truncated":false,"kept":1,"total":1}\n' "$__mcp_json"
		return 0
	fi
	__mcp_say_why_not
}

__mcp_say_why_not() {
	local message
	case $problem in
	invalid_json) message='The input is not JSON' ;;
	invalid_path_syntax) message="Not a path: $path" ;;
	path_not_found) message="Nothing is at $path" ;;
	invalid_array_path) message="Not an array: $path" ;;
	*) message="What cannot be left out is longer than $most bytes" ;;
	esac
	__mcp_quote "$message"
	printf '{"error":{"type":"%s","message":%s},"result":null}\n' "$problem" "$__mcp_quoted"
}

# -> `before`, `body`, `after`, `kept` and `total` of its caller, or its `problem`; fails
# without one where there is no array and none was asked for.
__mcp_locate_array() {
	# However large: what is to be shortened is large.
	local __mcp_most_pieces=1000000000 __mcp_longest_run=1000000000 at
	case $2$1 in
	\[*)
		if [ ${#1} -gt 65536 ]; then
			__mcp_fit_lines "$1" || problem=invalid_json
			[ -z "$problem" ]
			return
		fi
		;;
	esac
	__mcp_scan "$1" || problem=invalid_json
	[ -z "$problem" ] || return 1
	__mcp_find_array "$2" || return 1
	at=$__mcp_at
	__mcp_join_range 0 "$at"
	before=$__mcp_json
	__mcp_join_range "${__mcp_end[at]}" ${#__mcp_tok[@]}
	after=$__mcp_json
	at=$((at + 1))
	while [ "${__mcp_tok[at]}" != ']' ]; do
		__mcp_join "$at"
		__mcp_fit "$__mcp_json"
		__mcp_after
	done
}

# PATH -> __mcp_at, in the scanned document.
__mcp_find_array() {
	local status=0
	__mcp_at=0
	case $1 in
	'')
		__mcp_longest_array
		[ "$__mcp_at" -ge 0 ] && [ "${__mcp_tok[__mcp_at]}" = '[' ]
		return
		;;
	.) ;;
	.*) __mcp_walk "$1" || status=$? ;;
	*) status=2 ;;
	esac
	if [ $status -eq 2 ]; then
		problem=invalid_path_syntax
	elif [ $status -ne 0 ] || [ "$__mcp_at" -lt 0 ]; then
		problem=path_not_found
	elif [ "${__mcp_tok[__mcp_at]}" != '[' ]; then
		problem=invalid_array_path
	fi
	[ -z "$problem" ]
}

# A long array is cut into its elements by the JSON tool, one a line.
__mcp_fit_lines() {
	local line lines
	lines=$(__mcp_tool -c '.[]' <<<"$1" 2>/dev/null) || return 1
	while IFS= read -r line; do
		[ -z "$line" ] || __mcp_fit "$line"
	done <<<"$lines"
}

__mcp_fit() {
	local comma=''
	total=$((total + 1))
	[ "$kept" -eq $((total - 1)) ] || return 0
	[ "$kept" -eq 0 ] || comma=,
	[ $((${#before} + ${#body} + ${#comma} + ${#1} + ${#after} + 2)) -le "$most" ] || return 0
	body=$body$comma$1
	kept=$total
}

__mcp_join_range() {
	local __mcp_end
	__mcp_end=()
	__mcp_end[$1]=$2
	__mcp_json=''
	[ "$1" -ge "$2" ] || __mcp_join "$1"
}

__mcp_longest_array() {
	local at=1 longest=-1 size=-1
	__mcp_at=0
	[ "${__mcp_tok[0]}" = '{' ] || return 0
	while [ "${__mcp_tok[at]}" != '}' ]; do
		at=$((at + 2))
		if [ "${__mcp_tok[at]}" = '[' ] && [ $((__mcp_end[at] - at)) -gt $size ]; then
			longest=$at
			size=$((__mcp_end[at] - at))
		fi
		__mcp_after
	done
	__mcp_at=$longest
}
