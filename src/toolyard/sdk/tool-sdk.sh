# shellcheck shell=bash
# The functions a tool script calls: `source "${MCP_SDK:?}/tool-sdk.sh"`.
#
# For bash 3.2 and newer. What nearly every script needs is loaded now and starts no
# process; the rest is loaded when it is first called. Functions and variables that
# begin with two underscores are internal.

# As tools expect: what `x=$(mcp_args_require .x)` fails at ends the script.
set -euo pipefail

# First in every function that scripts call: payloads must not show in a trace (`set -x`).
# shellcheck disable=SC2016
__mcp_untraced='case $- in *x*) { set +x; } 2>/dev/null; __mcp_run_untraced "${FUNCNAME[0]}" "$@"; return ;; esac'

# FUNCTION [ARGUMENT...]: with the trace off, which goes on afterwards.
__mcp_run_untraced() {
	local __mcp_untraced_status=0
	"$@" || __mcp_untraced_status=$?
	{ set -x; } 2>/dev/null
	return $__mcp_untraced_status
}

__mcp_home=${BASH_SOURCE[0]%/*}
case $__mcp_home in
/*) ;;
"${BASH_SOURCE[0]}") __mcp_home=$PWD ;;
*) __mcp_home=$PWD/$__mcp_home ;;
esac

# shellcheck source=parts/json-write.sh
. "$__mcp_home/parts/json-write.sh"
# shellcheck source=parts/json-read.sh
. "$__mcp_home/parts/json-read.sh"
# shellcheck source=parts/json-query.sh
. "$__mcp_home/parts/json-query.sh"
# shellcheck source=parts/arguments.sh
. "$__mcp_home/parts/arguments.sh"
# shellcheck source=parts/results.sh
. "$__mcp_home/parts/results.sh"

# PART FUNCTION [ARGUMENT...]: the part replaces the function below with the real one.
__mcp_load() {
	local part=$1
	shift
	# shellcheck source=/dev/null
	. "$__mcp_home/parts/$part.sh"
	"$@"
}

mcp_progress() { eval "$__mcp_untraced"; __mcp_load report mcp_progress "$@"; }
mcp_log() { eval "$__mcp_untraced"; __mcp_load report mcp_log "$@"; }
mcp_log_debug() { eval "$__mcp_untraced"; __mcp_load report mcp_log_debug "$@"; }
mcp_log_info() { eval "$__mcp_untraced"; __mcp_load report mcp_log_info "$@"; }
mcp_log_warn() { eval "$__mcp_untraced"; __mcp_load report mcp_log_warn "$@"; }
mcp_log_error() { eval "$__mcp_untraced"; __mcp_load report mcp_log_error "$@"; }
mcp_debug() { eval "$__mcp_untraced"; __mcp_load report mcp_debug "$@"; }

mcp_result_error() { eval "$__mcp_untraced"; __mcp_load failures mcp_result_error "$@"; }
mcp_error() { eval "$__mcp_untraced"; __mcp_load failures mcp_error "$@"; }
mcp_fail() { eval "$__mcp_untraced"; __mcp_load failures mcp_fail "$@"; }
mcp_fail_invalid_args() { eval "$__mcp_untraced"; __mcp_load failures mcp_fail_invalid_args "$@"; }
__mcp_summarize() { __mcp_load failures __mcp_summarize "$@"; }
__mcp_refuse_data() { __mcp_load failures __mcp_refuse_data "$@"; }
__mcp_alive() { __mcp_load report __mcp_alive; }

__mcp_escape_controls() { __mcp_load strings __mcp_escape_controls; }
__mcp_mend_utf8() { __mcp_load strings __mcp_mend_utf8; }
__mcp_is_utf8() { __mcp_load strings __mcp_is_utf8 "$@"; }
__mcp_is_string() { __mcp_load strings __mcp_is_string "$@"; }
__mcp_unescape_string() { __mcp_load strings __mcp_unescape_string; }

mcp_json_truncate() { eval "$__mcp_untraced"; __mcp_load truncate mcp_json_truncate "$@"; }

mcp_require_path() { eval "$__mcp_untraced"; __mcp_load paths mcp_require_path "$@"; }
mcp_roots_list() { eval "$__mcp_untraced"; __mcp_load paths mcp_roots_list "$@"; }
mcp_roots_count() { eval "$__mcp_untraced"; __mcp_load paths mcp_roots_count "$@"; }
mcp_roots_contains() { eval "$__mcp_untraced"; __mcp_load paths mcp_roots_contains "$@"; }

mcp_result_text_with_resource() { eval "$__mcp_untraced"; __mcp_load resources mcp_result_text_with_resource "$@"; }

mcp_elicit() { eval "$__mcp_untraced"; __mcp_load questions mcp_elicit "$@"; }
mcp_elicit_url() { eval "$__mcp_untraced"; __mcp_load questions mcp_elicit_url "$@"; }
mcp_elicit_string() { eval "$__mcp_untraced"; __mcp_load questions mcp_elicit_string "$@"; }
mcp_elicit_confirm() { eval "$__mcp_untraced"; __mcp_load questions mcp_elicit_confirm "$@"; }
mcp_elicit_choice() { eval "$__mcp_untraced"; __mcp_load questions mcp_elicit_choice "$@"; }
mcp_elicit_titled_choice() { eval "$__mcp_untraced"; __mcp_load questions mcp_elicit_titled_choice "$@"; }
mcp_elicit_multi_choice() { eval "$__mcp_untraced"; __mcp_load questions mcp_elicit_multi_choice "$@"; }
mcp_elicit_titled_multi_choice() { eval "$__mcp_untraced"; __mcp_load questions mcp_elicit_titled_multi_choice "$@"; }
mcp_sample() { eval "$__mcp_untraced"; __mcp_load questions mcp_sample "$@"; }
mcp_sample_text() { eval "$__mcp_untraced"; __mcp_load questions mcp_sample_text "$@"; }
mcp_roots_ask() { eval "$__mcp_untraced"; __mcp_load questions mcp_roots_ask "$@"; }

mcp_config_load() { eval "$__mcp_untraced"; __mcp_load config mcp_config_load "$@"; }
mcp_config_get() { eval "$__mcp_untraced"; __mcp_load config mcp_config_get "$@"; }

mcp_download_safe() { eval "$__mcp_untraced"; __mcp_load download mcp_download_safe "$@"; }
mcp_download_safe_or_fail() { eval "$__mcp_untraced"; __mcp_load download mcp_download_safe_or_fail "$@"; }

mcp_with_retry() { __mcp_load commands mcp_with_retry "$@"; }
mcp_run_with_progress() { __mcp_load commands mcp_run_with_progress "$@"; }
mcp_extract_cli_error() { eval "$__mcp_untraced"; __mcp_load commands mcp_extract_cli_error "$@"; }

mcp_client_supports_ui() { eval "$__mcp_untraced"; __mcp_load ../ui-sdk mcp_client_supports_ui "$@"; }
mcp_result_with_ui() { eval "$__mcp_untraced"; __mcp_load ../ui-sdk mcp_result_with_ui "$@"; }
mcp_result_with_ui_data() { eval "$__mcp_untraced"; __mcp_load ../ui-sdk mcp_result_with_ui_data "$@"; }
mcp_ui_form() { eval "$__mcp_untraced"; __mcp_load ../ui-sdk mcp_ui_form "$@"; }
mcp_ui_table() { eval "$__mcp_untraced"; __mcp_load ../ui-sdk mcp_ui_table "$@"; }
mcp_tool_meta_with_ui() { eval "$__mcp_untraced"; __mcp_load ../ui-sdk mcp_tool_meta_with_ui "$@"; }

# Read here, once, so that every later `$(mcp_args_get ...)` inherits what was read.
__mcp_arguments_read
