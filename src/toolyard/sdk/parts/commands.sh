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
	eval "$__mcp_untraced"
	local filter succeeded
	if __mcp_scan "${1-}"; then
		__mcp_document=$1
		! __mcp_get_present .success || succeeded=$__mcp_text
		for filter in .error.message '.errors[0].message' .error .message .detail; do
			[ "$filter ${succeeded-}" != '.message true' ] || continue
			__mcp_get_present "$filter" || continue
			case $__mcp_text in
			'' | true | false | \{* | \[*) continue ;;
			esac
			printf '%s\n' "$__mcp_text"
			return 0
		done
		set -- '' "${2-}" "${3-}"
	fi
	if [ -n "${2-}" ]; then
		printf '%s\n' "$2"
	elif [ -n "${1-}" ]; then
		printf '%s\n' "$1"
	else
		printf 'CLI exited with code %s\n' "${3:-1}"
	fi
}

# [--pattern REGEX] [--extract json|match1|ratio] [--total N] [--interval SECONDS]
# [--progress-file FILE] [--stdout FILE] [--stderr-file FILE] [--quiet] [--dry-run] -- COMMAND...
# Lines of stderr (or of the file) that tell progress are passed on, the others printed to
# stderr. json: {"progress":N,"total":N,"message":TEXT}; match1: the pattern's first group, a
# percentage, or a part of the total; ratio: its first group of its second, as a percentage.
# A line that matches the pattern is a sign of life in any case. A dry run prints the progress
# to stderr instead. The status is the command's.
mcp_run_with_progress() {
	local pattern='' extract='' total='' interval=0.2 file='' out='' err='' quiet=false dry=false status=0
	while [ $# -gt 0 ] && [ "$1" != -- ]; do
		case $1 in
		--quiet) quiet=true ;;
		--dry-run) dry=true ;;
		--*)
			__mcp_run_option "$1" ${2+"$2"} || return 2
			shift
			;;
		*) break ;;
		esac
		shift
	done
	[ "${1-}" != -- ] || shift
	[ -n "$extract" ] || { [ -n "$pattern" ] && extract=match1 || extract=json; }
	__mcp_run_options_fit "$@" || return 2
	[ -z "$err" ] || : >"$err" || return 2
	if [ -n "$file" ]; then
		__mcp_run_watching_file "$@"
	else
		__mcp_run_watching_stderr "$@"
	fi
	return $status
}

# OPTION VALUE -> a variable of its caller.
__mcp_run_option() {
	if [ $# -lt 2 ]; then
		printf 'mcp_run_with_progress: %s needs a value\n' "$1" >&2
		return 1
	fi
	case $1 in
	--pattern) pattern=$2 ;;
	--extract) extract=$2 ;;
	--total) total=$2 ;;
	--interval) interval=$2 ;;
	--progress-file) file=$2 ;;
	--stdout) out=$2 ;;
	--stderr-file | --stderr) err=$2 ;;
	*)
		printf 'mcp_run_with_progress: unknown option: %s\n' "$1" >&2
		return 1
		;;
	esac
}

# COMMAND...: can it be run as its caller's variables say?
__mcp_run_options_fit() {
	local why='' positive='^([0-9]{1,12}(\.[0-9]{1,9})?|\.[0-9]{1,9})$'
	case $extract in
	json) ;;
	match1 | ratio) [ -n "$pattern" ] || why="--extract $extract needs a --pattern" ;;
	*) why="--extract is json, match1 or ratio, not $extract" ;;
	esac
	[ -z "$total" ] || [[ $total =~ $positive && $total =~ [1-9] ]] || why="--total is not a number above 0: $total"
	[[ $interval =~ $positive && $interval =~ [1-9] ]] || why="--interval is not a number above 0: $interval"
	[ $# -gt 0 ] || why='no command'
	[ -n "$why" ] || return 0
	printf 'mcp_run_with_progress: %s\n' "$why" >&2
	return 1
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
	if [ -z "$pattern" ]; then
		__mcp_pass_json "$1" && return 0
	elif [[ $1 =~ $pattern ]]; then
		__mcp_pass_match "$1" && return 0
		__mcp_alive
	fi
	[ -z "$err" ] || printf '%s\n' "$1" >>"$err"
	$quiet || [ -n "$err" ] || printf '%s\n' "$1" >&2
}

# LINE, which has matched: fails if it does not say how far the work is.
__mcp_pass_match() {
	case $extract in
	json)
		__mcp_pass_json "$1"
		return
		;;
	ratio) __mcp_percent "${BASH_REMATCH[1]-}" "${BASH_REMATCH[2]-}" || return 1 ;;
	*) __mcp_percent "${BASH_REMATCH[1]-}" "${total:-100}" || return 1 ;;
	esac
	__mcp_tell_progress "$__mcp_json" "$1" ''
}

__mcp_pass_json() {
	local progress whole
	__mcp_scan "$1" && __mcp_get "$1" .progress 2>/dev/null || return 1
	progress=$__mcp_text
	[ "$progress" != null ] || return 1
	__mcp_get "$1" ".total // \"$total\""
	whole=$__mcp_text
	__mcp_get "$1" '.message // ""'
	__mcp_tell_progress "$progress" "$__mcp_text" "$whole"
}

# PROGRESS MESSAGE TOTAL
__mcp_tell_progress() {
	if ! $dry; then
		mcp_progress "$@"
		return
	fi
	local message whole=''
	__mcp_quote "$2"
	message=$__mcp_quoted
	[ -z "$3" ] || whole=",\"total\":$3"
	printf '{"progress":%s%s,"message":%s}\n' "$1" "$whole" "$message" >&2
}

# PART WHOLE -> __mcp_json: so many percent, 0 to 100.
__mcp_percent() {
	local part
	__mcp_thousandths "$1" || return 1
	part=$__mcp_ms
	__mcp_thousandths "$2" && [ "$__mcp_ms" -gt 0 ] || return 1
	part=$((part * 100 / __mcp_ms))
	[ $part -le 100 ] || part=100
	__mcp_json=$part
}

# NUMBER -> __mcp_ms, its thousandfold.
__mcp_thousandths() {
	[[ $1 =~ ^[0-9]{1,12}(\.[0-9]+)?$ ]] || return 1
	__mcp_milliseconds "$1"
}
