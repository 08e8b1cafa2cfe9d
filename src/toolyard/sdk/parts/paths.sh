# shellcheck shell=bash
# The client's roots, and paths that must lie inside them.

mcp_roots_list() {
	eval "$__mcp_untraced"
	[ -z "${MCP_ROOTS_PATHS-}" ] || printf '%s\n' "$MCP_ROOTS_PATHS"
}

mcp_roots_count() {
	eval "$__mcp_untraced"
	printf '%s\n' "${MCP_ROOTS_COUNT:-0}"
}

# PATH: status 0 when it lies in a root, symbolic links followed.
mcp_roots_contains() {
	eval "$__mcp_untraced"
	__mcp_resolve "${1-}" || return 1
	local path=$__mcp_resolved root
	while IFS= read -r root; do
		[ -n "$root" ] && __mcp_resolve "$root" || continue
		root=${__mcp_resolved%/}
		case $path in
		"${root:-/}" | "$root"/*) return 0 ;;
		esac
	done <<<"${MCP_ROOTS_PATHS-}"
	return 1
}

# FILTER [--default-to-single-root] [--allow-nonexistent]: the argument's resolved path,
# or the call fails with -32602.
mcp_require_path() {
	eval "$__mcp_untraced"
	local filter=. single=false missing=false path option
	for option in ${1+"$@"}; do
		case $option in
		--default-to-single-root) single=true ;;
		--allow-nonexistent) missing=true ;;
		*) filter=$option ;;
		esac
	done
	__mcp_load_arguments
	if __mcp_get_present "$filter" && [ -n "$__mcp_text" ]; then
		path=$__mcp_text
	elif $single && [ "${MCP_ROOTS_COUNT:-0}" = 1 ]; then
		path=$MCP_ROOTS_PATHS
	else
		mcp_fail_invalid_args "Missing required argument: ${filter#.}"
	fi
	__mcp_normalise "$path"
	path=$__mcp_normal
	$missing || [ -e "$path" ] || mcp_fail_invalid_args "Path does not exist: $path"
	__mcp_resolve "$path" || mcp_fail_invalid_args "Path cannot be resolved: $path"
	path=$__mcp_resolved
	# A server always sets the count; unset, the script is run by hand and has no bounds.
	if [ -n "${MCP_ROOTS_COUNT+set}" ] && ! mcp_roots_contains "$path"; then
		mcp_fail_invalid_args "Path is outside the allowed roots: $path"
	fi
	printf '%s\n' "$path"
}

# PATH -> __mcp_normal: absolute, without `.` and `..`, whatever of it exists.
__mcp_normalise() {
	local rest=$1/ part normal=''
	case $rest in
	/*) ;;
	*) rest=$PWD/$rest ;;
	esac
	while [ -n "$rest" ]; do
		part=${rest%%/*}
		rest=${rest#*/}
		case $part in
		'' | .) ;;
		..) normal=${normal%/*} ;;
		*) normal=$normal/$part ;;
		esac
	done
	__mcp_normal=${normal:-/}
}

# PATH -> __mcp_resolved: absolute, without links; what does not exist yet may follow
# what does.
__mcp_resolve() {
	local path=$1 links=0
	case $path in
	'' | *"$__mcp_newline") return 1 ;;
	/*) ;;
	*) path=$PWD/$path ;;
	esac
	while [ ! -d "$path" ] && [ -L "$path" ]; do
		links=$((links + 1))
		[ $links -le 40 ] || return 1
		__mcp_follow_link
	done
	if [ -d "$path" ]; then
		__mcp_resolved=$(CDPATH='' cd -P -- "$path" 2>/dev/null && printf '%s' "$PWD")
		return
	fi
	__mcp_resolve_parent "$path"
}

# Works on its caller's `path`.
__mcp_follow_link() {
	local target
	target=$(readlink "$path") || return 1
	case $target in
	/*) path=$target ;;
	*) path=${path%/*}/$target ;;
	esac
}

__mcp_resolve_parent() {
	local name=${1##*/}
	case $name in
	'')
		__mcp_resolve "${1%/}"
		return
		;;
	. | ..) return 1 ;;
	esac
	__mcp_resolve "${1%/*}/" || return 1
	__mcp_resolved=${__mcp_resolved%/}/$name
}
