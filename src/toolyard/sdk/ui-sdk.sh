# shellcheck shell=bash
# Results and metadata for tools with a user interface (MCP Apps).
#
# tool-sdk.sh loads this when one of its functions is first called; a script may also
# source it, after tool-sdk.sh or alone.

# A part that is loaded late leaves the script's options alone.
[ "${FUNCNAME[1]-}" = __mcp_load ] || set -euo pipefail

if ! declare -F __mcp_quote >/dev/null; then
	# shellcheck source=tool-sdk.sh
	. "${BASH_SOURCE[0]%/*}/tool-sdk.sh"
fi

# Status 0 when the client shows user interfaces.
mcp_client_supports_ui() {
	eval "$__mcp_untraced"
	if __mcp_scan "${MCP_CLIENT_CAPABILITIES_JSON-}"; then
		__mcp_at=0
		__mcp_enter_key extensions && __mcp_enter_key io.modelcontextprotocol/ui &&
			[ "$__mcp_at" -ge 0 ] && return 0
	fi
	[ -n "${MCPBASH_STATE_DIR-}" ] && [ -e "$MCPBASH_STATE_DIR/extensions.ui.support" ]
}

# URI TEXT [DATA]: a text result that is shown with this user interface, by a client that
# shows any. The order of the arguments does not matter: they are told apart by their form
# (ui://..., JSON object or array, anything else).
mcp_result_with_ui() {
	eval "$__mcp_untraced"
	local uri='' text='' data='' meta argument
	for argument in ${1+"$@"}; do
		case $argument in
		ui://*) uri=$argument ;;
		\{* | \[*)
			if __mcp_compact "$argument"; then data=$__mcp_json; else text=$argument; fi
			;;
		*) text=$argument ;;
		esac
	done
	[ -z "$data" ] || [ -n "$text" ] || text=$data
	__mcp_quote "$text"
	text=$__mcp_quoted
	meta=''
	if [ -n "$uri" ] && mcp_client_supports_ui; then
		__mcp_quote "$uri"
		meta=",\"_meta\":{\"ui\":{\"resourceUri\":$__mcp_quoted}}"
	fi
	printf '{"content":[{"type":"text","text":%s}]%s%s,"isError":false}\n' \
		"$text" "${data:+,\"structuredContent\":$data}" "$meta"
}

# URI DATA [TEXT]: the same with data for the interface; without a text, the data is it.
mcp_result_with_ui_data() { eval "$__mcp_untraced"; mcp_result_with_ui "$@"; }

# TITLE FIELDS [SUBMIT_TOOL]: the content of a ui.meta.json that shows a form.
mcp_ui_form() {
	eval "$__mcp_untraced"
	local title fields submit=''
	__mcp_quote "${1-}"
	title=$__mcp_quoted
	__mcp_compact "${2:-[]}" || return 1
	fields=$__mcp_json
	if [ -n "${3-}" ]; then
		__mcp_quote "$3"
		submit=",\"submitTool\":$__mcp_quoted"
	fi
	printf '{"template":"form","config":{"title":%s,"fields":%s%s}}\n' "$title" "$fields" "$submit"
}

# TITLE COLUMNS [ROWS]: the content of a ui.meta.json that shows a table.
mcp_ui_table() {
	eval "$__mcp_untraced"
	local title columns rows=''
	__mcp_quote "${1-}"
	title=$__mcp_quoted
	__mcp_compact "${2:-[]}" || return 1
	columns=$__mcp_json
	if [ -n "${3-}" ]; then
		__mcp_compact "$3" || return 1
		rows=",\"rows\":$__mcp_json"
	fi
	printf '{"template":"data-table","config":{"title":%s,"columns":%s%s}}\n' "$title" "$columns" "$rows"
}

# URI [VISIBILITY...]: the _meta of a tool's metadata; visible to model and app by default.
mcp_tool_meta_with_ui() {
	eval "$__mcp_untraced"
	local uri
	__mcp_quote "${1-}"
	uri=$__mcp_quoted
	[ $# -eq 0 ] || shift
	[ $# -gt 0 ] || set -- model app
	__mcp_quote_all "$@"
	printf '{"ui":{"resourceUri":%s,"visibility":%s}}\n' "$uri" "$__mcp_json"
}
