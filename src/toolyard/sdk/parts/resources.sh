# shellcheck shell=bash
# A result that carries files as embedded resources.

# DATA --path FILE [--mime TYPE] [--uri URI] [--path FILE ...]
mcp_result_text_with_resource() {
	local data=${1-} structured='' content path='' mime='' uri=''
	[ $# -eq 0 ] || shift
	if __mcp_compact "$data"; then
		data="{\"success\":true,\"result\":$__mcp_json}"
		structured=",\"structuredContent\":$data"
	fi
	__mcp_quote "$data"
	content="{\"type\":\"text\",\"text\":$__mcp_quoted}"
	while [ $# -gt 1 ]; do
		case $1 in
		--path)
			__mcp_add_resource || return
			path=$2 mime='' uri=''
			;;
		--mime) mime=$2 ;;
		--uri) uri=$2 ;;
		esac
		shift 2
	done
	__mcp_add_resource || return
	printf '{"content":[%s]%s,"isError":false}\n' "$content" "$structured"
}

# Appends `path`, `mime` and `uri` of its caller to its `content`.
__mcp_add_resource() {
	[ -n "$path" ] || return 0
	if [ ! -f "$path" ] || [ ! -r "$path" ]; then
		mcp_error not_found "File cannot be read: $path"
		return 1
	fi
	local field
	[ -n "$mime" ] || __mcp_guess_mime
	[ -n "$uri" ] || __mcp_file_uri
	__mcp_read_file
	content="$content,{\"type\":\"resource\",\"resource\":{"
	__mcp_quote "$uri"
	content="$content\"uri\":$__mcp_quoted"
	__mcp_quote "$mime"
	content="$content,\"mimeType\":$__mcp_quoted,$field}}"
}

# -> its caller's `field`. A NUL, or bytes that are not UTF-8, make it a blob.
__mcp_read_file() {
	local LC_ALL=C text
	if ! IFS= read -r -d '' text <"$path" && __mcp_is_utf8 "$text"; then
		__mcp_quote "$text"
		field="\"text\":$__mcp_quoted"
		return 0
	fi
	field="\"blob\":\"$(base64 <"$path" | tr -d '\n')\""
}

__mcp_guess_mime() {
	case $path in
	*.json) mime=application/json ;;
	*.html | *.htm) mime=text/html ;;
	*.md) mime=text/markdown ;;
	*.csv) mime=text/csv ;;
	*.css) mime=text/css ;;
	*.js) mime=text/javascript ;;
	*.xml) mime=application/xml ;;
	*.svg) mime=image/svg+xml ;;
	*.png) mime=image/png ;;
	*.jpg | *.jpeg) mime=image/jpeg ;;
	*.gif) mime=image/gif ;;
	*.pdf) mime=application/pdf ;;
	*.txt | *.log | *.sh) mime=text/plain ;;
	*) mime=application/octet-stream ;;
	esac
}

__mcp_file_uri() {
	local LC_ALL=C at=0 char code absolute=$path
	case $path in
	/*) ;;
	*) absolute=$PWD/$path ;;
	esac
	uri=file://
	while [ $at -lt ${#absolute} ]; do
		char=${absolute:at:1}
		case $char in
		[A-Za-z0-9/._~-]) ;;
		*)
			printf -v code '%d' "'$char"
			printf -v char '%%%02X' $((code & 255))
			;;
		esac
		uri=$uri$char
		at=$((at + 1))
	done
}
