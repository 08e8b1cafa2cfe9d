# shellcheck shell=bash
# Shorten a JSON array, or one inside an object, to a number of bytes.

# JSON [MAX_BYTES] [--array-path PATH]: {"result":...,"truncated":...,"kept":N,"total":N}.
# In an object without a path, the longest array among its members is shortened.
mcp_json_truncate() {
	local json=${1-} most=${MCPBASH_MAX_TEXT_BYTES:-102400} path='' LC_ALL=C
	local before='' after='' body='' kept=0 total=0
	[ $# -eq 0 ] || shift
	while [ $# -gt 0 ]; do
		case $1 in
		--array-path) path=${2-} && shift ;;
		--max-bytes) most=${2-} && shift ;;
		*) most=$1 ;;
		esac
		[ $# -eq 0 ] || shift
	done
	if ! __mcp_locate_array "$json" "$path"; then
		__mcp_cannot_shorten
		return
	fi
	[ "$kept" -eq "$total" ] && path=false || path=true
	printf '{"result":%s,"truncated":%s,"kept":%s,"total":%s}\n' "${before}[$body]$after" "$path" "$kept" "$total"
}

# What is no array, or has none, is whole or refused. Works on its caller's `json`.
__mcp_cannot_shorten() {
	if ! __mcp_compact "$json"; then
		printf 'mcp_json_truncate: not JSON\n' >&2
		return 1
	fi
	if [ ${#__mcp_json} -le "$most" ]; then
		printf '{"result":%s,"truncated":false,"kept":1,"total":1}\n' "$__mcp_json"
		return 0
	fi
	printf '{"error":{"type":"output_too_large","message":"%s bytes, at most %s, and no array to shorten"},"truncated":false}\n' \
		"${#__mcp_json}" "$most"
	return 1
}

# -> `before`, `body`, `after`, `kept` and `total` of its caller.
__mcp_locate_array() {
	# However large: what is to be shortened is large.
	local __mcp_most_pieces=1000000000 __mcp_longest_run=1000000000 at
	case $1 in
	\[*)
		if [ ${#1} -gt 65536 ]; then
			__mcp_fit_lines "$1"
			return
		fi
		;;
	esac
	__mcp_scan "$1" || return 1
	if [ -n "$2" ]; then
		__mcp_query "$2" || return 1
	else
		__mcp_longest_array
	fi
	[ "$__mcp_at" -ge 0 ] && [ "${__mcp_tok[__mcp_at]}" = '[' ] || return 1
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

# A long array is cut into its elements by the JSON tool, one a line.
__mcp_fit_lines() {
	local line lines
	lines=$(__mcp_tool -c '.[]' <<<"$1") || return 1
	while IFS= read -r line; do
		[ -z "$line" ] || __mcp_fit "$line"
	done <<<"$lines"
}

__mcp_fit() {
	total=$((total + 1))
	[ "$kept" -eq $((total - 1)) ] || return 0
	[ $((${#before} + ${#body} + ${#1} + ${#after} + 3)) -le "$most" ] || return 0
	[ "$kept" -eq 0 ] || body=$body,
	body=$body$1
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
