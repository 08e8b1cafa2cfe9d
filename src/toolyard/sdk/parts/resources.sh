# shellcheck shell=bash
# A result that carries files as embedded resources.

# DATA --path FILE [--mime TYPE] [--uri URI] [--path FILE ...]: the server reads the files
# and embeds those that lie in the roots; it warns of the others.
mcp_result_text_with_resource() {
	eval "$__mcp_untraced"
	local data=${1-} list='' path='' mime='' uri=''
	[ $# -eq 0 ] || shift
	if [ -z "$data" ]; then
		__mcp_refuse_data mcp_result_text_with_resource ''
		return 0
	fi
	while [ $# -gt 0 ]; do
		case $1 in
		--path | --mime | --uri)
			if [ $# -gt 1 ]; then
				__mcp_resource_flag "$1" "$2"
				shift
			fi
			;;
		*)
			mcp_log_warn mcp_result_text_with_resource "ignored: $1"
			case $1${2---} in
			--*--*) ;;
			--*) shift ;;
			esac
			;;
		esac
		shift
	done
	__mcp_add_resource
	__mcp_name_resources
	if __mcp_compact "$data"; then
		mcp_result_success "$data"
		return 0
	fi
	__mcp_quote "$data"
	printf '{"content":[{"type":"text","text":%s}],"isError":false}\n' "$__mcp_quoted"
}

# FLAG VALUE: to `path`, `mime` and `uri` of its caller; a path ends what belongs to the last.
__mcp_resource_flag() {
	case $1 in
	--path)
		if [ -n "$path" ]; then
			__mcp_add_resource
			mime='' uri=''
		fi
		path=$2
		;;
	--mime) mime=$2 ;;
	--uri) uri=$2 ;;
	esac
}

# Appends `path`, `mime` and `uri` of its caller to its `list`.
__mcp_add_resource() {
	[ -n "$path" ] || return 0
	case $path in
	/*) ;;
	*) path=$PWD/$path ;;
	esac
	__mcp_quote "$path"
	list="$list${list:+,}{\"path\":$__mcp_quoted"
	if [ -n "$mime" ]; then
		__mcp_quote "$mime"
		list="$list,\"mimeType\":$__mcp_quoted"
	fi
	if [ -n "$uri" ]; then
		__mcp_quote "$uri"
		list="$list,\"uri\":$__mcp_quoted"
	fi
	list="$list}"
}

# The `list` of its caller takes the place of what an earlier call has named.
__mcp_name_resources() {
	[ -n "${MCP_TOOL_RESOURCES_FILE-}" ] || return 0
	[ -n "$list" ] || [ -s "$MCP_TOOL_RESOURCES_FILE" ] || return 0
	printf '[%s]\n' "$list" >"$MCP_TOOL_RESOURCES_FILE"
}
