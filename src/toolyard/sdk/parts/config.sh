# shellcheck shell=bash
# A tool's own configuration, from a variable, a file, an example or defaults.

# [--env VARIABLE] [--file PATH] [--example PATH] [--defaults JSON] -> MCP_CONFIG_JSON.
# The first that exists counts, in this order; the defaults fill in what it lacks.
# The variable holds JSON or the path of a file.
mcp_config_load() {
	local variable='' file='' example='' defaults='{}' config='' place
	while [ $# -gt 1 ]; do
		case $1 in
		--env) variable=$2 ;;
		--file) file=$2 ;;
		--example) example=$2 ;;
		--defaults) defaults=$2 ;;
		esac
		shift 2
	done
	place=defaults config=$defaults
	if [ -n "$variable" ] && [ -n "${!variable-}" ]; then
		place=$variable config=${!variable}
		[ ! -f "$config" ] || place=$config config=$(<"$config")
	elif [ -f "$file" ]; then
		place=$file config=$(<"$file")
	elif [ -f "$example" ]; then
		place=$example config=$(<"$example")
	fi
	__mcp_merge "$defaults" "$config" || {
		printf 'mcp_config_load: %s: not a JSON object\n' "$place" >&2
		return 1
	}
	MCP_CONFIG_JSON=$__mcp_json
	export MCP_CONFIG_JSON
}

# FILTER [--default VALUE]: status 1 when it is missing and has no default.
mcp_config_get() {
	local filter default given min max
	__mcp_parse_options "$@"
	__mcp_document=${MCP_CONFIG_JSON:-'{}'}
	if ! __mcp_get_present "$filter"; then
		$given || return 1
		__mcp_text=$default
	fi
	printf '%s\n' "$__mcp_text"
}

# DEFAULTS CONFIG -> __mcp_json: the members of both, config's where both have one.
__mcp_merge() {
	local own at name names='' body
	__mcp_scan "$2" && [ "${__mcp_tok[0]}" = '{' ] || return 1
	at=1
	while [ "${__mcp_tok[at]}" != '}' ]; do
		names=$names${__mcp_tok[at]}$__mcp_newline
		at=$((at + 2))
		__mcp_after
	done
	__mcp_join 0
	own=${__mcp_json:1:${#__mcp_json}-2}
	__mcp_scan "$1" && [ "${__mcp_tok[0]}" = '{' ] || return 1
	body='' at=1
	while [ "${__mcp_tok[at]}" != '}' ]; do
		name=${__mcp_tok[at]}
		at=$((at + 2))
		__mcp_join "$at"
		case $__mcp_newline$names in
		*"$__mcp_newline$name$__mcp_newline"*) ;;
		*) body=$body$name:$__mcp_json, ;;
		esac
		__mcp_after
	done
	body=$body$own
	__mcp_json="{${body%,}}"
}
