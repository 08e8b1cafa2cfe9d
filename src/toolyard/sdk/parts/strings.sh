# shellcheck shell=bash
# The rarer things in strings: control characters, \u escapes, bytes that are not UTF-8.

__mcp_backspace=$'\b'
__mcp_feed=$'\f'
__mcp_slash=/
__mcp_unicode='\u'
__mcp_hex='[0-9a-fA-F]'

# Works on its caller's `s`.
__mcp_escape_controls() {
	local code char escape
	for ((code = 1; code < 32; code++)); do
		case $s in
		*$__mcp_control*) ;;
		*) return 0 ;;
		esac
		printf -v char '\\%03o' "$code"
		# shellcheck disable=SC2059  # the format is the escape we have just built
		printf -v char "$char"
		printf -v escape '\\u%04x' "$code"
		s=${s//"$char"/"$escape"}
	done
}

# Works on its caller's `text`, in the C locale: bytes that are not UTF-8 become U+FFFD,
# because one latin-1 file name would otherwise spoil the whole result. Looking takes
# quadratic time; a longer text is left as it is.
__mcp_mend_utf8() {
	[ ${#text} -le 131072 ] || return 0
	__mcp_is_utf8 "$text" && return 0
	local rest=$text ascii size
	text=''
	while [ -n "$rest" ]; do
		ascii=${rest%%$__mcp_above_ascii*}
		text=$text$ascii
		rest=${rest:${#ascii}}
		[ -n "$rest" ] || break
		for size in 2 3 4 0; do
			[ $size -ne 0 ] && [ ${#rest} -ge $size ] || continue
			__mcp_is_utf8 "${rest:0:size}" && break
		done
		if [ $size -eq 0 ]; then
			text=$text$'\357\277\275'
			rest=${rest:1}
		else
			text=$text${rest:0:size}
			rest=${rest:size}
		fi
	done
}

# Replace every well-formed sequence by a space (not by nothing: what was apart must not
# join); what then remains above ASCII is not UTF-8.
__mcp_is_utf8() {
	local s=$1 next=$'[\200-\277]' pattern
	for pattern in $'[\302-\337]'"$next" $'\340[\240-\277]'"$next" $'[\341-\354\356\357]'"$next$next" \
		$'\355[\200-\237]'"$next" $'\360[\220-\277]'"$next$next" $'[\361-\363]'"$next$next$next" \
		$'\364[\200-\217]'"$next$next"; do
		s=${s//$pattern/ }
		case $s in
		*$__mcp_above_ascii*) ;;
		*) return 0 ;;
		esac
	done
	return 1
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
