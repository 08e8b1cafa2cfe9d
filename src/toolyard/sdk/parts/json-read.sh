# shellcheck shell=bash
# Read JSON in the shell itself: a scanner, and a reader for simple jq paths.
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
__mcp_hex='[0-9a-fA-F]'
# A document of more pieces, or of a longer run without a string, goes to the JSON tool.
__mcp_most_pieces=6000
__mcp_longest_run=16384

__mcp_slash=/
__mcp_unicode='\u'

__mcp_scanned=''
__mcp_tok=()
__mcp_end=()

mcp_is_valid_json() {
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

# Are the escapes of this string (\\ and \" are marked already) those of JSON?
__mcp_is_string() {
	local s=$1
	case $s in
	*$__mcp_not_in_string*) return 1 ;;
	esac
	s=${s//\\[bfnrt\/]/ }
	s=${s//\\u$__mcp_hex$__mcp_hex$__mcp_hex$__mcp_hex/ }
	case $s in
	*\\*) return 1 ;;
	esac
}

# TEXT -> __mcp_json: the same value on one line. 1: not JSON.
__mcp_compact() {
	local status=0
	__mcp_scan "$1" || status=$?
	case $status in
	0) __mcp_join 0 ;;
	3) __mcp_json=$(__mcp_tool -c . <<<"$1" 2>/dev/null) ;;
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

# Works on its caller's `s`. Marks go last and piecewise: \u0002 must not become one.
__mcp_unescape_string() {
	local code
	s=${s//"${__mcp_backslash}n"/"$__mcp_newline"}
	s=${s//"${__mcp_backslash}t"/"$__mcp_tab"}
	s=${s//"${__mcp_backslash}r"/"$__mcp_return"}
	s=${s//"${__mcp_backslash}b"/"$__mcp_backspace"}
	s=${s//"${__mcp_backslash}f"/"$__mcp_feed"}
	s=${s//"$__mcp_backslash$__mcp_slash"/"$__mcp_slash"}
	__mcp_text=''
	while :; do
		__mcp_unmark "${s%%"$__mcp_unicode"*}"
		__mcp_text=$__mcp_text$__mcp_unmarked
		case $s in
		*"$__mcp_unicode"*) s=${s#*"$__mcp_unicode"} ;;
		*) break ;;
		esac
		code=$((16#${s:0:4}))
		s=${s:4}
		__mcp_pair_surrogates
		__mcp_utf8 $code
		__mcp_text=$__mcp_text$__mcp_char
	done
}

# Works on `code` and `s` of the string being read; a half without its other is U+FFFD.
__mcp_pair_surrogates() {
	[ "$code" -ge 55296 ] && [ "$code" -le 57343 ] || return 0
	local high=$code low=0
	code=65533
	case $s in
	"$__mcp_unicode"*) low=$((16#${s:2:4})) ;;
	esac
	[ "$high" -le 56319 ] && [ $low -ge 56320 ] && [ $low -le 57343 ] || return 0
	code=$((65536 + (high - 55296) * 1024 + low - 56320))
	s=${s:6}
}

# CODE POINT -> __mcp_char: its UTF-8 bytes. NUL is nothing, as in any shell string.
__mcp_utf8() {
	local code=$1 format
	if [ "$code" -lt 128 ]; then
		printf -v format '\\%03o' "$code"
	elif [ "$code" -lt 2048 ]; then
		printf -v format '\\%03o\\%03o' $((192 | code >> 6)) $((128 | code & 63))
	elif [ "$code" -lt 65536 ]; then
		printf -v format '\\%03o\\%03o\\%03o' \
			$((224 | code >> 12)) $((128 | code >> 6 & 63)) $((128 | code & 63))
	else
		printf -v format '\\%03o\\%03o\\%03o\\%03o' \
			$((240 | code >> 18)) $((128 | code >> 12 & 63)) $((128 | code >> 6 & 63)) $((128 | code & 63))
	fi
	__mcp_char=''
	# shellcheck disable=SC2059  # the format is the character
	[ "$code" -eq 0 ] || printf -v __mcp_char "$format"
}
