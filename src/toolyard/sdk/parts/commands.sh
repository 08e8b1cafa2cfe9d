# shellcheck shell=bash
# Running other commands: again, with their progress passed on, and reading their errors.

# ATTEMPTS DELAY -- COMMAND...: exit codes 1 and 2 mean that trying again will not help;
# others are tried again, the pause doubling each time.
mcp_with_retry() {
	local left=${1:-3} pause status
	__mcp_milliseconds "${2:-1}"
	pause=$__mcp_ms
	shift 2
	[ "${1-}" != -- ] || shift
	while :; do
		status=0
		"$@" || status=$?
		left=$((left - 1))
		[ $status -gt 2 ] && [ $left -gt 0 ] || return $status
		# Up to a quarter more, so that many callers do not come back as one.
		__mcp_sleep_ms $((pause + pause * (RANDOM % 25) / 100))
		pause=$((pause * 2))
	done
}

# SECONDS -> __mcp_ms
__mcp_milliseconds() {
	local whole=${1%%.*} part=000
	case $1 in
	*.*) part=${1#*.}000 ;;
	esac
	__mcp_ms=$((10#${whole:-0} * 1000 + 10#${part:0:3}))
}

__mcp_sleep_ms() {
	local seconds
	printf -v seconds '%d.%03d' $(($1 / 1000)) $(($1 % 1000))
	sleep "$seconds"
}

# STDOUT STDERR EXIT_CODE: prints the message a failed command left, wherever it is.
mcp_extract_cli_error() {
	local filter
	if __mcp_scan "${1-}"; then
		for filter in .error.message '.errors[0].message' .error .message .detail; do
			__mcp_document=$1
			__mcp_get_present "$filter" || continue
			[ -n "$__mcp_text" ] && [ "$__mcp_text" != true ] || continue
			printf '%s\n' "$__mcp_text"
			return 0
		done
	fi
	if [ -n "${2-}" ]; then
		printf '%s\n' "$2"
	elif [ -n "${1-}" ]; then
		printf '%s\n' "$1"
	else
		printf 'Command failed with exit code %s\n' "${3:-1}"
	fi
}

# [--pattern REGEX] [--extract json|match1|ratio] [--total N] [--interval SECONDS]
# [--progress-file FILE] [--stdout FILE] [--stderr FILE] [--quiet] [--dry-run] -- COMMAND...
# Lines of stderr (or of the file) that tell progress are passed on, the others printed to
# stderr. json: {"progress":N,"total":N,"message":TEXT}; match1: the pattern's first group;
# ratio: its first and second. The status is the command's.
mcp_run_with_progress() {
	local pattern='' extract='' total='' interval=0.2 file='' out='' err='' quiet=false dry=false status=0
	while [ $# -gt 0 ] && [ "$1" != -- ]; do
		case $1 in
		--quiet) quiet=true ;;
		--dry-run) dry=true ;;
		--*)
			[ $# -gt 1 ] || return 2
			__mcp_run_option "$1" "$2" || return 2
			shift
			;;
		*) break ;;
		esac
		shift
	done
	[ "${1-}" != -- ] || shift
	[ -n "$extract" ] || { [ -n "$pattern" ] && extract=match1 || extract=json; }
	if $dry; then
		printf '%s\n' "$*" >&2
		return 0
	fi
	if [ -n "$file" ]; then
		__mcp_run_watching_file "$@"
	else
		__mcp_run_watching_stderr "$@"
	fi
	return $status
}

__mcp_run_option() {
	case $1 in
	--pattern) pattern=$2 ;;
	--extract) extract=$2 ;;
	--total) total=$2 ;;
	--interval) interval=$2 ;;
	--progress-file) file=$2 ;;
	--stdout) out=$2 ;;
	--stderr) err=$2 ;;
	*)
		printf 'mcp_run_with_progress: unknown option: %s\n' "$1" >&2
		return 1
		;;
	esac
}

# -> its caller's `status`.
__mcp_run_watching_stderr() {
	{
		# shellcheck disable=SC2260  # stderr goes to the pipe, stdout past it
		if [ -n "$out" ]; then
			"$@" 2>&1 >"$out" 3>&-
		else
			"$@" 2>&1 >&3 3>&-
		fi | __mcp_pass_progress && status=0 || status=${PIPESTATUS[0]}
	} 3>&1
}

__mcp_pass_progress() {
	local line
	while IFS= read -r line || [ -n "$line" ]; do
		__mcp_pass_line "$line"
	done
}

__mcp_run_watching_file() {
	local pid line
	# The command appends; what an earlier one left is not progress.
	: >"$file"
	"$@" >"${out:-/dev/stdout}" 2>"${err:-/dev/stderr}" &
	pid=$!
	exec 4<"$file"
	while kill -0 "$pid" 2>/dev/null; do
		__mcp_pass_new_lines
		sleep "$interval"
	done
	wait "$pid" || status=$?
	__mcp_pass_new_lines
	exec 4<&-
}

__mcp_pass_new_lines() {
	while IFS= read -r line <&4; do
		__mcp_pass_line "$line"
	done
}

# LINE: progress, or something to print.
__mcp_pass_line() {
	case $extract in
	json) __mcp_pass_json "$1" && return 0 ;;
	*)
		if [[ $1 =~ $pattern ]]; then
			if [ "$extract" = ratio ]; then total=${BASH_REMATCH[2]-}; fi
			mcp_progress "${BASH_REMATCH[1]-0}" "$1" "$total"
			return 0
		fi
		;;
	esac
	[ -z "$err" ] || printf '%s\n' "$1" >>"$err"
	$quiet || [ -n "$err" ] || printf '%s\n' "$1" >&2
}

__mcp_pass_json() {
	local progress whole
	__mcp_scan "$1" && __mcp_get "$1" .progress 2>/dev/null || return 1
	progress=$__mcp_text
	[ "$progress" != null ] || return 1
	__mcp_get "$1" ".total // \"$total\""
	whole=$__mcp_text
	__mcp_get "$1" '.message // ""'
	mcp_progress "$progress" "$__mcp_text" "$whole"
}
