# shellcheck shell=bash
# Read JSON in the shell itself: cut a document into tokens, and print values of it.
#
# The scanner cuts a document at its quotation marks, so that what lies between is by
# turns structure and string, and checks the whole grammar. Internal functions leave
# their result in a variable, because `$(...)` costs a fork.

# While scanning, \\ and \" are these two bytes, which JSON text cannot hold itself.
__mcp_double=$'\002'
__mcp_quote_mark=$'\003'
__mcp_not_in_string=$'[\001\004-\037]'
__mcp_blank=$'[ \t\n\r]'
__mcp_not_blank=$'[! \t\n\r]'
__mcp_number='^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$'
# A document of more pieces, or of a longer run without a string, goes to the JSON tool.
__mcp_most_pieces=6000
__mcp_longest_run=16384

__mcp_scanned=''
__mcp_tok=()
__mcp_end=()

mcp_is_valid_json() {
	eval "$__mcp_untraced"
	local status=0
	__mcp_scan "${1-}" || status=$?
	[ $status -ne 3 ] || { __mcp_tool -e -s 'length == 1' <<<"$1" >/dev/null 2>&1 && status=0; }
	[ $status -eq 0 ]
}

# TEXT -> __mcp_tok, its tokens in compact form, and __mcp_end, where the container that
# begins at a token ends. 1: not JSON. 3: too large to be read here.
__mcp_scan() {
	[ -z "$1" ] || [ "$1" != "$__mcp_scanned" ] || return 0
	__mcp_scanned=''
	__mcp_tok=()
	__mcp_end=()
	local LC_ALL=C IFS='"' text pieces
	case $1 in
	'' | *["$__mcp_double$__mcp_quote_mark"]*) return 1 ;;
	esac
	__mcp_mark_escapes "$1"
	__mcp_cut
	[ ${#pieces[@]} -le "$__mcp_most_pieces" ] || return 3
	__mcp_scan_pieces || return
	__mcp_scanned=$1
}

# TEXT -> its caller's `text`.
__mcp_mark_escapes() {
	local rest=$1 piece
	text=''
	case $rest in
	*\\*) ;;
	*)
		text=$rest
		return 0
		;;
	esac
	while [ ${#rest} -gt "$__mcp_piece" ]; do
		piece=${rest:0:__mcp_piece}
		rest=${rest:__mcp_piece}
		while [ -n "$rest" ] && [ "${piece:${#piece}-1}" = \\ ]; do
			piece=$piece${rest:0:1}
			rest=${rest:1}
		done
		__mcp_mark_piece "$piece"
	done
	__mcp_mark_piece "$rest"
}

__mcp_mark_piece() {
	local s=${1//"$__mcp_escaped_backslash"/"$__mcp_double"}
	text=$text${s//"$__mcp_escaped_quote"/"$__mcp_quote_mark"}
}

# The `text` of its caller -> its `pieces`, cut at the quotation marks.
__mcp_cut() {
	local glob=+f
	case $- in
	*f*) glob=-f ;;
	esac
	set -f
	# The x keeps a last, empty piece from being dropped.
	text=${text}x
	# shellcheck disable=SC2206  # splitting is the point
	pieces=($text)
	set $glob
}

# `want` is what the grammar allows next: v a value, V a value or ], K a key, k a key
# or }, `:`, `,` (or a closing bracket), z nothing more.
__mcp_scan_pieces() {
	local at=0 last=$((${#pieces[@]} - 1)) count=0 depth=0 want=v run word open
	[ $((last % 2)) -eq 0 ] || return 1
	pieces[last]=${pieces[last]%x}
	open=()
	while :; do
		run=${pieces[at]}
		[ -z "$run" ] || __mcp_scan_run || return
		[ $at -lt $last ] || break
		__mcp_scan_string "${pieces[at + 1]}" || return 1
		at=$((at + 2))
	done
	[ $want = z ]
}

__mcp_scan_string() {
	case $1 in
	*\\* | *$__mcp_not_in_string*) __mcp_is_string "$1" || return 1 ;;
	esac
	__mcp_tok[count]=\"$1\"
	count=$((count + 1))
	case $want in
	v | V) __mcp_value_done ;;
	k | K) want=: ;;
	*) return 1 ;;
	esac
}

__mcp_value_done() {
	if [ "$depth" -eq 0 ]; then want=z; else want=,; fi
}

# A run of structure between two strings.
__mcp_scan_run() {
	[ ${#run} -le "$__mcp_longest_run" ] || return 3
	while [ -n "$run" ]; do
		word=${run:0:1}
		case $want$word in
		?$__mcp_blank)
			run=${run#"${run%%$__mcp_not_blank*}"}
			continue
			;;
		[vV]\{)
			open[depth]=$count
			depth=$((depth + 1))
			want=k
			;;
		[vV]\[)
			open[depth]=$count
			depth=$((depth + 1))
			want=V
			;;
		V\] | ,\]) __mcp_close '[' || return 1 ;;
		k\} | ,\}) __mcp_close '{' || return 1 ;;
		::) want=v ;;
		,,)
			want=v
			[ "${__mcp_tok[open[depth - 1]]}" = '[' ] || want=K
			;;
		[vV][-0-9])
			word=${run%%[!-+.0-9eE]*}
			[[ $word =~ $__mcp_number ]] || return 1
			__mcp_value_done
			;;
		[vV][tfn])
			word=${run%%[!a-z]*}
			case $word in
			true | false | null) __mcp_value_done ;;
			*) return 1 ;;
			esac
			;;
		*) return 1 ;;
		esac
		__mcp_tok[count]=$word
		count=$((count + 1))
		run=${run:${#word}}
	done
}

__mcp_close() {
	depth=$((depth - 1))
	[ "${__mcp_tok[open[depth]]}" = "$1" ] || return 1
	__mcp_end[open[depth]]=$((count + 1))
	__mcp_value_done
}

# TEXT -> __mcp_json: the same value on one line. 1: not JSON.
__mcp_compact() {
	local status=0
	__mcp_scan "$1" || status=$?
	case $status in
	0) __mcp_join 0 ;;
	3)
		__mcp_json=$(__mcp_tool -c . <<<"$1" 2>/dev/null) || return 1
		case $__mcp_json in
		'' | *"$__mcp_newline"*) return 1 ;; # several values
		esac
		;;
	*) return 1 ;;
	esac
}

# INDEX -> __mcp_json: the scanned value that begins there, compact.
__mcp_join() {
	local LC_ALL=C IFS='' end=${__mcp_end[$1]-$(($1 + 1))}
	__mcp_json="${__mcp_tok[*]:$1:end-$1}"
	case $__mcp_json in
	*["$__mcp_double$__mcp_quote_mark"]*)
		__mcp_json=${__mcp_json//"$__mcp_double"/"$__mcp_escaped_backslash"}
		__mcp_json=${__mcp_json//"$__mcp_quote_mark"/"$__mcp_escaped_quote"}
		;;
	esac
}

# JSON TOKEN -> __mcp_text: what `jq -r` prints for it.
__mcp_raw_text() {
	local LC_ALL=C s
	case $1 in
	\"*) ;;
	*)
		__mcp_text=$1
		return 0
		;;
	esac
	s=${1:1:${#1}-2}
	case $s in
	*\\*) __mcp_unescape_string ;;
	*)
		__mcp_unmark "$s"
		__mcp_text=$__mcp_unmarked
		;;
	esac
}

__mcp_unmark() {
	__mcp_unmarked=${1//"$__mcp_double"/"$__mcp_backslash"}
	__mcp_unmarked=${__mcp_unmarked//"$__mcp_quote_mark"/\"}
}
