# shellcheck shell=bash
# Questions to the client while the tool runs: forms, URLs, sampling, roots.
#
# A question is a file that appears whole (written beside, then renamed); so is its answer.

# MESSAGE SCHEMA [MODE]: prints {"action":...,"content":...}; a client that cannot be
# asked declines.
mcp_elicit() {
	eval "$__mcp_untraced"
	local message schema='{"type":"object","properties":{}}'
	__mcp_quote "${1-}"
	message=$__mcp_quoted
	__mcp_compact "${2:-$schema}" || {
		printf 'mcp_elicit: the schema is not JSON\n' >&2
		return 1
	}
	schema=$__mcp_json
	__mcp_quote "${3:-form}"
	__mcp_elicit "{\"message\":$message,\"schema\":$schema,\"mode\":$__mcp_quoted}"
}

mcp_elicit_url() {
	eval "$__mcp_untraced"
	local message
	__mcp_quote "${1-}"
	message=$__mcp_quoted
	__mcp_quote "${2-}"
	__mcp_elicit "{\"message\":$message,\"url\":$__mcp_quoted,\"mode\":\"url\"}"
}

# MESSAGE [FIELD]
mcp_elicit_string() {
	eval "$__mcp_untraced"
	__mcp_elicit_field "${1-}" "${2:-value}" '{"type":"string"}'
}

mcp_elicit_confirm() {
	eval "$__mcp_untraced"
	__mcp_elicit_field "${1-}" confirmed '{"type":"boolean"}'
}

# MESSAGE OPTION...
mcp_elicit_choice() {
	eval "$__mcp_untraced"
	local message=${1-}
	shift
	__mcp_quote_all "$@"
	__mcp_elicit_field "$message" choice "{\"type\":\"string\",\"enum\":$__mcp_json}"
}

# MESSAGE VALUE:TITLE...
mcp_elicit_titled_choice() {
	eval "$__mcp_untraced"
	local message=${1-}
	shift
	__mcp_titled "$@"
	__mcp_elicit_field "$message" choice "{\"type\":\"string\",\"oneOf\":$__mcp_json}"
}

mcp_elicit_multi_choice() {
	eval "$__mcp_untraced"
	local message=${1-}
	shift
	__mcp_quote_all "$@"
	__mcp_elicit_field "$message" choices \
		"{\"type\":\"array\",\"items\":{\"type\":\"string\",\"enum\":$__mcp_json}}"
}

mcp_elicit_titled_multi_choice() {
	eval "$__mcp_untraced"
	local message=${1-}
	shift
	__mcp_titled "$@"
	__mcp_elicit_field "$message" choices "{\"type\":\"array\",\"items\":{\"anyOf\":$__mcp_json}}"
}

# PROMPT|PARAMS [--max-tokens N] [--system TEXT]: prints the client's answer; status 1
# when there is none. Params are those of sampling/createMessage.
mcp_sample() {
	eval "$__mcp_untraced"
	local params=${1-} tokens=1024 system=''
	[ $# -eq 0 ] || shift
	while [ $# -gt 1 ]; do
		case $1 in
		--max-tokens) tokens=$2 ;;
		--system)
			__mcp_quote "$2"
			system=",\"systemPrompt\":$__mcp_quoted"
			;;
		esac
		shift 2
	done
	if ! __mcp_compact "$params" || [ "${params#\{}" = "$params" ]; then
		__mcp_quote "$params"
		__mcp_json="{\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":$__mcp_quoted}}]"
		__mcp_json="$__mcp_json,\"maxTokens\":$tokens$system}"
	fi
	__mcp_ask "${MCP_SAMPLE_SUPPORTED:-0}" "${MCP_SAMPLE_REQUEST_FILE-}" "${MCP_SAMPLE_RESPONSE_FILE-}" "$__mcp_json"
	printf '%s\n' "$__mcp_json"
	__mcp_get "$__mcp_json" '.content' && [ "$__mcp_text" != null ]
}

# As mcp_sample, but prints only the text of the answer.
mcp_sample_text() {
	eval "$__mcp_untraced"
	local answer
	answer=$(mcp_sample "$@") || return 1
	__mcp_get "$answer" '.content.text // .content[0].text // empty' || return 1
	printf '%s\n' "$__mcp_text"
}

# Prints {"roots":[...]} as the client has them now, or those the call began with.
mcp_roots_ask() {
	eval "$__mcp_untraced"
	__mcp_ask "${MCP_ROOTS_SUPPORTED:-0}" "${MCP_ROOTS_REQUEST_FILE-}" "${MCP_ROOTS_RESPONSE_FILE-}" '{}'
	if ! __mcp_get "$__mcp_json" '.roots' || [ "$__mcp_text" = null ]; then
		__mcp_text=${MCP_ROOTS_JSON:-[]}
	fi
	printf '{"roots":%s}\n' "$__mcp_text"
}

# MESSAGE FIELD SCHEMA: a form of this one, required, field.
__mcp_elicit_field() {
	__mcp_quote "$2"
	mcp_elicit "$1" \
		"{\"type\":\"object\",\"properties\":{$__mcp_quoted:$3},\"required\":[$__mcp_quoted]}"
}

# VALUE:TITLE... -> __mcp_json: [{"const":...,"title":...}]
__mcp_titled() {
	local option body='' value
	for option in ${1+"$@"}; do
		__mcp_quote "${option%%:*}"
		value=$__mcp_quoted
		__mcp_quote "${option#*:}"
		body="$body${body:+,}{\"const\":$value,\"title\":$__mcp_quoted}"
	done
	__mcp_json=[$body]
}

__mcp_elicit() {
	__mcp_ask "${MCP_ELICIT_SUPPORTED:-0}" "${MCP_ELICIT_REQUEST_FILE-}" "${MCP_ELICIT_RESPONSE_FILE-}" "$1"
	printf '%s\n' "$__mcp_json"
}

# SUPPORTED REQUEST_FILE RESPONSE_FILE QUESTION -> __mcp_json, the answer.
__mcp_ask() {
	__mcp_json='{"action":"decline"}'
	[ "$1" = 1 ] && [ -n "$2" ] && [ -n "$3" ] || return 0
	rm -f -- "$3"
	printf '%s\n' "$4" >"$2.$$"
	mv -f -- "$2.$$" "$2"
	(__mcp_await "$3" "${2%/*}")
	__mcp_json='{"action":"cancel"}'
	[ -s "$3" ] || return 0
	__mcp_compact "$(<"$3")" || __mcp_json='{"action":"cancel"}'
	rm -f -- "$3"
}

# FILE FOLDER: until the file is there, the call is cancelled or its folder is gone.
__mcp_await() {
	local pause='sleep 0.05' IFS=' '
	# Reading from a pipe that never has anything waits without a process; macOS refuses
	# to open it, bash 3 has no fractions.
	if [ "${BASH_VERSINFO[0]}" -ge 4 ] && { exec 3<> <(:); } 2>/dev/null; then
		pause='read -r -t 0.05 -u 3'
	fi
	while [ ! -s "$1" ] && [ -d "$2" ] && ! mcp_is_cancelled; do
		$pause || :
	done
}
