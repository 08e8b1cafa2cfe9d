# shellcheck shell=bash
# Download a file over https, from an allowed host and never from a private address.
#
# The name is resolved once, every address is checked, and curl is pinned to them; it
# follows no redirect and uses no proxy, either of which would lead around the check.

# --url URL --out PATH [--allow HOST]... [--deny HOST]... [--timeout SECONDS]
# [--max-bytes N] [--user-agent TEXT] [--retry N] [--retry-delay SECONDS]
# Prints {"success":true,"bytes":N,"path":PATH} or {"success":false,"error":{...}}.
mcp_download_safe() {
	eval "$__mcp_untraced"
	local url='' out='' retries=0 delay=1 host='' port=443 addresses=''
	local allow=${MCPBASH_HTTPS_ALLOW_HOSTS-} deny=${MCPBASH_HTTPS_DENY_HOSTS-}
	local seconds=${MCPBASH_HTTPS_TIMEOUT:-15} most=${MCPBASH_HTTPS_MAX_BYTES:-10485760}
	local agent=${MCPBASH_HTTPS_USER_AGENT:-toolyard}
	__mcp_download_error=''
	if __mcp_download_options "$@" && __mcp_split_url && __mcp_host_allowed && __mcp_resolve_host; then
		__mcp_fetch_with_retries
	fi
	if [ -n "$__mcp_download_error" ]; then
		printf '{"success":false,"error":%s}\n' "$__mcp_download_error"
		return 0
	fi
	__mcp_quote "$out"
	printf '{"success":true,"bytes":%s,"path":%s}\n' "$__mcp_bytes" "$__mcp_quoted"
}

# OPTION VALUE... -> variables of its caller.
__mcp_download_options() {
	local number='^[0-9]{1,12}(\.[0-9]{1,9})?$' whole='^[0-9]{1,15}$' pattern=''
	while [ $# -gt 0 ]; do
		[ $# -gt 1 ] || __mcp_refuse invalid_params "$1 needs a value" || return 1
		pattern=''
		case $1 in
		--url) url=$2 ;;
		--out) out=$2 ;;
		--allow) allow="$allow $2" ;;
		--deny) deny="$deny $2" ;;
		--timeout) seconds=$2 pattern=$number ;;
		--max-bytes) most=$2 pattern=$whole ;;
		--user-agent) agent=$2 ;;
		--retry) retries=$2 pattern=$whole ;;
		--retry-delay) delay=$2 pattern=$number ;;
		*) __mcp_refuse invalid_params "Unknown option: $1" || return 1 ;;
		esac
		[ -z "$pattern" ] || [[ $2 =~ $pattern ]] ||
			__mcp_refuse invalid_params "$1 is not a number: $2" || return 1
		shift 2
	done
	[ -n "$url" ] || __mcp_refuse invalid_params '--url is missing' || return 1
	[ -n "$out" ] || __mcp_refuse invalid_params '--out is missing'
}

# The same; prints the path, or the call fails.
mcp_download_safe_or_fail() {
	eval "$__mcp_untraced"
	local answer
	answer=$(mcp_download_safe "$@")
	__mcp_get "$answer" '.path // empty' && {
		printf '%s\n' "$__mcp_text"
		return 0
	}
	__mcp_get "$answer" .error.message
	mcp_fail_invalid_args "Download failed: $__mcp_text"
}

# TYPE MESSAGE [LOCATION]
__mcp_refuse() {
	__mcp_quote "$2"
	__mcp_download_error="{\"type\":\"$1\",\"message\":$__mcp_quoted"
	if [ -n "${3-}" ]; then
		__mcp_quote "$3"
		__mcp_download_error="$__mcp_download_error,\"location\":$__mcp_quoted"
	fi
	__mcp_download_error="$__mcp_download_error}"
	return 1
}

# `url` -> `host` and `port`. Numbers in disguise (0x7f.1, 2130706433) are not host names.
__mcp_split_url() {
	local rest=${url#https://} name='^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$' last
	[ "$rest" != "$url" ] || __mcp_refuse invalid_url "Only https:// is allowed: $url" || return 1
	rest=${rest%%[/?#]*}
	case $rest in
	*@*) __mcp_refuse invalid_url 'A user name in the URL is not allowed' || return 1 ;;
	*:*) port=${rest##*:} ;;
	esac
	host=$(printf '%s' "${rest%:*}" | tr '[:upper:]' '[:lower:]')
	last=${host%.}
	last=${last##*.}
	case $host:$last in
	\[* | *:[0-9]*) __mcp_refuse host_blocked "An address is not a host name: $rest" || return 1 ;;
	esac
	[[ $host =~ $name && $port =~ ^[0-9]{1,5}$ ]] || __mcp_refuse invalid_url "Not a host name: $rest"
}

__mcp_host_allowed() {
	if __mcp_is_listed "$deny"; then
		__mcp_refuse host_blocked "Host is denied: $host"
	elif [ "${MCPBASH_HTTPS_ALLOW_ALL:-false}" != true ] && ! __mcp_is_listed "$allow"; then
		__mcp_refuse host_blocked "Host is not allowed: $host"
	fi
}

# HOSTS, separated by spaces or commas: is `host` among them?
__mcp_is_listed() {
	case " ${1//,/ } " in
	*" $host "*) ;;
	*) return 1 ;;
	esac
}

# -> `addresses`, separated by commas, all of them public.
__mcp_resolve_host() {
	local address
	while IFS= read -r address; do
		case ,$addresses, in
		*",$address,"*) continue ;;
		esac
		__mcp_is_public "$address" ||
			__mcp_refuse host_blocked "Host has a private address: $host ($address)" || return 1
		addresses=$addresses${addresses:+,}$address
	done < <(__mcp_look_up)
	[ -n "$addresses" ] || __mcp_refuse network_error "Host cannot be resolved: $host"
}

__mcp_look_up() {
	if type -P getent >/dev/null; then
		getent ahosts "$host" | while read -r address _; do printf '%s\n' "$address"; done
	elif type -P dscacheutil >/dev/null; then
		dscacheutil -q host -a name "$host" | while read -r key address; do
			case $key in
			ip_address: | ipv6_address:) printf '%s\n' "$address" ;;
			esac
		done
	elif type -P python3 >/dev/null; then
		python3 -c 'import socket, sys
for found in socket.getaddrinfo(sys.argv[1], 443, type=socket.SOCK_STREAM): print(found[4][0])' "$host" 2>/dev/null
	fi
}

# Of IPv6 only what is routed globally, without the ranges that carry an IPv4 address.
__mcp_is_public() {
	local a b c octets='^([0-9]{1,3})\.([0-9]{1,3})\.([0-9]{1,3})\.([0-9]{1,3})$'
	case $1 in
	2002:* | 2001:db8:* | 2001:0:* | 2001::*) return 1 ;;
	[23][0-9a-fA-F][0-9a-fA-F][0-9a-fA-F]:*) return 0 ;;
	esac
	[[ $1 =~ $octets ]] || return 1
	a=$((10#${BASH_REMATCH[1]})) b=$((10#${BASH_REMATCH[2]})) c=$((10#${BASH_REMATCH[3]}))
	case $a.$b.$c in
	0.* | 10.* | 127.* | 169.254.* | 192.168.* | 198.1[89].* | 192.0.[02] | 192.88.99 | 198.51.100 | 203.0.113)
		return 1
		;;
	100.*) [ $b -lt 64 ] || [ $b -gt 127 ] ;;
	172.*) [ $b -lt 16 ] || [ $b -gt 31 ] ;;
	*) [ $a -lt 224 ] ;;
	esac
}

__mcp_fetch_with_retries() {
	local again
	while :; do
		again=false
		__mcp_download_error=''
		__mcp_fetch && return 0
		$again && [ "$retries" -gt 0 ] || return 0
		retries=$((retries - 1))
		sleep "$delay"
	done
}

# -> __mcp_bytes, or __mcp_download_error and `again`, whether another try may help.
__mcp_fetch() {
	local part=$out.part.$$ answer='' code status=0
	# Not every curl stops a body of unknown length: the file-size limit does (unit: 1 KiB).
	answer=$(
		ulimit -f $((most / 1024 + 1)) 2>/dev/null
		curl -q -sS --noproxy '*' --proto '=https' --max-redirs 0 --max-time "$seconds" \
			--max-filesize "$most" --resolve "$host:$port:$addresses" -A "$agent" \
			-o "$part" -w '%{http_code} %{redirect_url}' -- "$url" 2>"$part.error"
	) || status=$?
	code=${answer%% *}
	__mcp_bytes=0
	[ ! -f "$part" ] || __mcp_bytes=$(($(wc -c <"$part")))
	__mcp_judge_fetch && { mv -f -- "$part" "$out" || __mcp_refuse write_error "Cannot write: $out"; }
	status=$?
	rm -f -- "$part" "$part.error"
	return $status
}

__mcp_judge_fetch() {
	if [ "$status" -eq 63 ] || [ "$status" -gt 128 ] || [ "$__mcp_bytes" -gt "$most" ]; then
		__mcp_refuse size_exceeded "More than $most bytes"
		return
	fi
	case $status in
	0) ;;
	*)
		again=true
		__mcp_refuse network_error "$(<"$part.error")"
		return
		;;
	esac
	case $code in
	2??) ;;
	3??) __mcp_refuse redirect "Redirects to ${answer#* }" "${answer#* }" ;;
	*)
		case $code in 5?? | 429) again=true ;; esac
		__mcp_refuse http_error "HTTP status $code"
		;;
	esac
}
