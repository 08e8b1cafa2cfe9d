# shellcheck shell=bash
# A tool's own configuration, put together from defaults, an example, a file and a variable.

# [--env VARIABLE] [--file PATH] [--example PATH] [--defaults JSON] -> MCP_CONFIG_JSON.
# Members of the variable (JSON, or the path of a file) go before those of the file, these
# before the example's, these before the defaults. Status 1 when there is none of them.
mcp_config_load() {
	eval "$__mcp_untraced"
	local variable='' file='' example='' defaults='' merged='{}' found=false
	while [ $# -gt 1 ]; do
		case $1 in
		--env) variable=$2 ;;
		--file) file=$2 ;;
		--example) example=$2 ;;
		--defaults) defaults=$2 ;;
		esac
		shift 2
	done
	[ -z "$defaults" ] || __mcp_config_add --defaults "$defaults"
	__mcp_config_add_file "$example"
	__mcp_config_add_file "$file"
	if [ -z "$variable" ] || [ -z "${!variable-}" ]; then
		:
	elif [ -f "${!variable}" ]; then
		__mcp_config_add_file "${!variable}"
	else
		__mcp_config_add "$variable" "${!variable}"
	fi
	MCP_CONFIG_JSON=$merged
	export MCP_CONFIG_JSON
	$found
}

# FILTER [--default VALUE]: status 1 when it is missing and has no default.
mcp_config_get() {
	eval "$__mcp_untraced"
	local filter default given min max
	__mcp_parse_options "$@"
	__mcp_document=${MCP_CONFIG_JSON:-'{}'}
	if ! __mcp_get_present "$filter"; then
		$given || return 1
		__mcp_text=$default
	fi
	printf '%s\n' "$__mcp_text"
}

__mcp_config_add_file() {
	local text
	[ -f "$1" ] || return 0
	{ text=$(<"$1"); } 2>/dev/null || text=''
	__mcp_config_add "$1" "$text"
}

# PLACE JSON: over the `merged` of its caller.
__mcp_config_add() {
	if __mcp_merge "$merged" "$2"; then
		merged=$__mcp_json found=true
	else
		mcp_log_warn mcp_config_load "$1: not a JSON object, passed over"
	fi
}

# BELOW ABOVE -> __mcp_json: the members of both; of two with one name, that of ABOVE.
# 1: ABOVE is not an object.
__mcp_merge() {
	local status=0
	__mcp_scan "$2" || status=$?
	[ $status -eq 0 ] || [ $status -eq 3 ] || return 1
	if [ $status -eq 0 ] && [ "${__mcp_tok[0]}" != '{' ]; then
		return 1
	fi
	[ $status -ne 0 ] || __mcp_scan "$1" || status=$?
	if [ $status -ne 0 ]; then
		__mcp_merge_large "$1" "$2"
		return
	fi
	__mcp_merge_small "$1" "$2"
}

__mcp_merge_large() {
	__mcp_json=$(__mcp_tool -c -s 'if (.[1] | type) == "object" then add else empty end' \
		<<<"$1$__mcp_newline$2" 2>/dev/null) && [ -n "$__mcp_json" ]
}

__mcp_merge_small() {
	local own at name quoted names='' body
	__mcp_scan "$2"
	at=1
	while [ "${__mcp_tok[at]}" != '}' ]; do
		names=$names${__mcp_tok[at]}$__mcp_newline
		at=$((at + 2))
		__mcp_after
	done
	__mcp_join 0
	own=${__mcp_json:1:${#__mcp_json}-2}
	__mcp_scan "$1"
	body='' at=1
	while [ "${__mcp_tok[at]}" != '}' ]; do
		name=${__mcp_tok[at]}
		__mcp_join "$at"
		quoted=$__mcp_json
		at=$((at + 2))
		__mcp_join "$at"
		case $__mcp_newline$names in
		*"$__mcp_newline$name$__mcp_newline"*) ;;
		*) body=$body$quoted:$__mcp_json, ;;
		esac
		__mcp_after
	done
	body=$body$own
	__mcp_json="{${body%,}}"
}
