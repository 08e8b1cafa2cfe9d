# shellcheck shell=bash
# Answer simple jq filters in the shell: paths and literals joined by `//`.
#
# Everything else is handed to the JSON tool: jq or gojq, or the one beside the SDK.

# Unescaping takes quadratic time; a longer string is the tool's.
__mcp_longest_string=131072

# DOCUMENT FILTER -> __mcp_text, as `jq -r` prints it. 4: the filter yields nothing.
__mcp_get() {
	local status=0
	__mcp_scan "$1" || status=2
	[ $status -ne 0 ] || __mcp_query "$2" || status=$?
	[ $status -ne 0 ] || __mcp_is_readable || status=2
	case $status in
	0) __mcp_read_value ;;
	2)
		__mcp_text=$(__mcp_tool -rc "$2" <<<"$1")
		return
		;;
	5) printf 'mcp: %s: a value on this path is neither object nor array\n' "$2" >&2 ;;
	esac
	return $status
}

# Runs the JSON tool; the document comes on stdin.
__mcp_tool() {
	local bin
	for bin in "${MCPBASH_JSON_TOOL_BIN:-jq}" jq gojq; do
		type -P "$bin" >/dev/null || continue
		"$bin" "$@"
		return
	done
	"$__mcp_home/json-tool" "$@"
}

# FILTER -> __mcp_at, the token it leads to in the scanned document, or -1 with the
# literal in __mcp_value. 2: not a simple filter. 4: nothing. 5: wrong kind of value.
# Every term is evaluated, so that one which is not simple is seen.
__mcp_query() {
	local LC_ALL=C filter=$1 term status at found='' value=''
	case $filter in
	\(*\)) filter=${filter:1:${#filter}-2} ;;
	esac
	while :; do
		__mcp_next_term || return 2
		status=0
		__mcp_evaluate "$term" || status=$?
		[ $status -ne 2 ] || return 2
		if [ -z "$found" ] && [ $status -eq 0 ] && ! __mcp_is_absent; then
			found=$__mcp_at
			value=$__mcp_value
		fi
		[ -n "$filter" ] || break
		filter=${filter#//}
	done
	[ -n "$found" ] || return $status
	__mcp_at=$found
	__mcp_value=$value
}

# Takes the first term off its caller's `filter`.
__mcp_next_term() {
	filter=${filter#"${filter%%[! ]*}"}
	case $filter in
	\"*\"*)
		term=${filter:1}
		term=\"${term%%\"*}\"
		filter=${filter:${#term}}
		filter=${filter#"${filter%%[! ]*}"}
		;;
	*)
		term=${filter%%/*}
		filter=${filter:${#term}}
		term=${term%"${term##*[! ]}"}
		;;
	esac
	case $filter in
	'' | //*) ;;
	*) return 1 ;;
	esac
}

__mcp_is_absent() {
	[ "$__mcp_at" -lt 0 ] || __mcp_value=${__mcp_tok[__mcp_at]}
	[ "$__mcp_value" = null ] || [ "$__mcp_value" = false ]
}

__mcp_evaluate() {
	case $1 in
	.) __mcp_at=0 ;;
	.*) __mcp_walk "$1" ;;
	empty) return 4 ;;
	*)
		__mcp_at=-1
		__mcp_value=$1
		__mcp_is_literal "$1" || return 2
		;;
	esac
}

__mcp_is_literal() {
	case $1 in
	\"*) case $1 in *\\*) return 1 ;; esac ;;
	true | false | null | '[]' | '{}') ;;
	*) [[ $1 =~ $__mcp_number ]] ;;
	esac
}

# PATH -> __mcp_at. The whole path is read even where it has already failed.
__mcp_walk() {
	local path=$1 key status=0
	__mcp_at=0
	while [ -n "$path" ]; do
		case $path in
		.\[*)
			path=${path:1}
			continue
			;;
		\[\"*\"\]* | .\"*\"*)
			key=${path#??}
			key=${key%%\"*}
			case $path in
			\[\"*) [ "${path:${#key}+3:1}" = ']' ] || return 2 ;;
			esac
			case $path in
			.*) path=${path:${#key}+3} ;;
			*) path=${path:${#key}+4} ;;
			esac
			case $key in *\\*) return 2 ;; esac
			;;
		\[*\]*)
			key=${path#?}
			key=${key%%\]*}
			path=${path:${#key}+2}
			case $key in '' | *[!0-9]*) return 2 ;; esac
			[ $status -ne 0 ] || __mcp_enter_index "$key" || status=$?
			continue
			;;
		.*)
			key=${path#.}
			key=${key%%[.\[]*}
			path=${path:${#key}+1}
			case $key in '' | [0-9]* | *[!A-Za-z0-9_]*) return 2 ;; esac
			;;
		*) return 2 ;;
		esac
		[ $status -ne 0 ] || __mcp_enter_key "$key" || status=$?
	done
	return $status
}

# KEY: from the object at __mcp_at to its member; the last of equal keys counts, as in jq.
__mcp_enter_key() {
	__mcp_enter '{' || return $(($? - 1))
	local at=$((__mcp_at + 1)) name
	__mcp_at=-1
	while [ "${__mcp_tok[at]}" != '}' ]; do
		name=${__mcp_tok[at]}
		case $name in
		*["\\$__mcp_double$__mcp_quote_mark"]*)
			__mcp_raw_text "$name"
			name=\"$__mcp_text\"
			;;
		esac
		at=$((at + 2))
		[ "$name" != "\"$1\"" ] || __mcp_at=$at
		__mcp_after
	done
}

__mcp_enter_index() {
	__mcp_enter '[' || return $(($? - 1))
	local at=$((__mcp_at + 1)) left=$1
	__mcp_at=-1
	while [ "${__mcp_tok[at]}" != ']' ]; do
		if [ "$left" -eq 0 ]; then
			__mcp_at=$at
			return 0
		fi
		left=$((left - 1))
		__mcp_after
	done
}

# Moves its caller's `at` to the next member.
__mcp_after() {
	at=${__mcp_end[at]-$((at + 1))}
	[ "${__mcp_tok[at]}" != , ] || at=$((at + 1))
}

# 0: a container of that kind. 1: null, into which every path leads to null. 6: no way in.
__mcp_enter() {
	__mcp_value=null
	[ "$__mcp_at" -ge 0 ] || return 1
	case ${__mcp_tok[__mcp_at]} in
	"$1") ;;
	null)
		__mcp_at=-1
		return 1
		;;
	*) return 6 ;;
	esac
}

__mcp_is_readable() {
	[ "$__mcp_at" -ge 0 ] && [ ${#__mcp_tok[__mcp_at]} -gt $__mcp_longest_string ] || return 0
	case ${__mcp_tok[__mcp_at]} in
	*\\*) return 1 ;;
	esac
}

# What __mcp_query found -> __mcp_text.
__mcp_read_value() {
	[ "$__mcp_at" -lt 0 ] || __mcp_value=${__mcp_tok[__mcp_at]}
	case $__mcp_value in
	'{' | '[')
		__mcp_join "$__mcp_at"
		__mcp_text=$__mcp_json
		;;
	*) __mcp_raw_text "$__mcp_value" ;;
	esac
}
