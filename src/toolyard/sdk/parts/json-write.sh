# shellcheck shell=bash
# Write JSON: strings, objects, arrays. Knows nothing of a call.
#
# Internal functions leave their result in a variable, because `$(...)` costs a fork.

__mcp_backslash='\'
__mcp_escaped_backslash='\\'
__mcp_escaped_quote='\"'
__mcp_newline=$'\n'
__mcp_tab=$'\t'
__mcp_return=$'\r'
__mcp_control=$'[\001-\037]'
__mcp_above_ascii=$'[\200-\377]'
# Bash's ${text//a/b} takes quadratic time; pieces of this size keep it linear.
__mcp_piece=16384

mcp_json_escape() {
	eval "$__mcp_untraced"
	__mcp_quote "${1-}"
	printf '%s\n' "$__mcp_quoted"
}

# KEY VALUE...: all values are strings.
mcp_json_obj() {
	eval "$__mcp_untraced"
	if [ $(($# % 2)) -ne 0 ]; then
		printf 'mcp_json_obj: key "%s" has no value\n' "${!#}" >&2
		return 1
	fi
	local body='' comma=''
	while [ $# -gt 0 ]; do
		__mcp_quote "$1"
		body=$body$comma$__mcp_quoted:
		__mcp_quote "$2"
		body=$body$__mcp_quoted
		comma=,
		shift 2
	done
	printf '{%s}\n' "$body"
}

mcp_json_arr() {
	eval "$__mcp_untraced"
	__mcp_quote_all "$@"
	printf '%s\n' "$__mcp_json"
}

mcp_byte_length() {
	eval "$__mcp_untraced"
	__mcp_count_bytes "${1-}"
	printf '%s\n' "$__mcp_bytes"
}

__mcp_count_bytes() {
	local LC_ALL=C
	__mcp_bytes=${#1}
}

# STRING... -> __mcp_json: an array of strings.
__mcp_quote_all() {
	local body='' comma='' item
	for item in ${1+"$@"}; do
		__mcp_quote "$item"
		body=$body$comma$__mcp_quoted
		comma=,
	done
	__mcp_json=[$body]
}

# TEXT -> __mcp_quoted: the JSON string, quotes included.
__mcp_quote() {
	local LC_ALL=C text=$1 out='' at=0
	case $text in
	*$__mcp_above_ascii*) __mcp_mend_utf8 ;;
	esac
	if [ ${#text} -le $__mcp_piece ]; then
		__mcp_escape_piece "$text"
		__mcp_quoted=\"$__mcp_escaped\"
		return 0
	fi
	while [ $at -lt ${#text} ]; do
		__mcp_escape_piece "${text:at:__mcp_piece}"
		out=$out$__mcp_escaped
		at=$((at + __mcp_piece))
	done
	__mcp_quoted=\"$out\"
}

__mcp_escape_piece() {
	local s=$1
	case $s in
	*\\*) s=${s//"$__mcp_backslash"/"$__mcp_escaped_backslash"} ;;
	esac
	case $s in
	*\"*) s=${s//\"/"$__mcp_escaped_quote"} ;;
	esac
	case $s in
	*$__mcp_control*)
		s=${s//"$__mcp_newline"/"${__mcp_backslash}n"}
		s=${s//"$__mcp_tab"/"${__mcp_backslash}t"}
		s=${s//"$__mcp_return"/"${__mcp_backslash}r"}
		;;
	esac
	case $s in
	*$__mcp_control*) __mcp_escape_controls ;;
	esac
	__mcp_escaped=$s
}
