# shellcheck shell=bash
# The functions a tool script calls: `source "${MCP_SDK:?}/tool-sdk.sh"`.
#
# For bash 3.2 and newer. What nearly every script needs is loaded now and starts no
# process; the rest is loaded when it is first called. Functions and variables that
# begin with two underscores are internal.

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

mcp_progress() { __mcp_load report mcp_progress "$@"; }
mcp_log() { __mcp_load report mcp_log "$@"; }
mcp_log_debug() { __mcp_load report mcp_log_debug "$@"; }
mcp_log_info() { __mcp_load report mcp_log_info "$@"; }
mcp_log_warn() { __mcp_load report mcp_log_warn "$@"; }
mcp_log_error() { __mcp_load report mcp_log_error "$@"; }
mcp_debug() { __mcp_load report mcp_debug "$@"; }

mcp_result_error() { __mcp_load failures mcp_result_error "$@"; }
mcp_error() { __mcp_load failures mcp_error "$@"; }
mcp_fail() { __mcp_load failures mcp_fail "$@"; }
mcp_fail_invalid_args() { __mcp_load failures mcp_fail_invalid_args "$@"; }
__mcp_summarize() { __mcp_load failures __mcp_summarize "$@"; }

__mcp_escape_controls() { __mcp_load strings __mcp_escape_controls; }
__mcp_mend_utf8() { __mcp_load strings __mcp_mend_utf8; }
__mcp_is_utf8() { __mcp_load strings __mcp_is_utf8 "$@"; }
__mcp_is_string() { __mcp_load strings __mcp_is_string "$@"; }
__mcp_unescape_string() { __mcp_load strings __mcp_unescape_string; }

mcp_json_truncate() { __mcp_load truncate mcp_json_truncate "$@"; }

mcp_require_path() { __mcp_load paths mcp_require_path "$@"; }
mcp_roots_list() { __mcp_load paths mcp_roots_list "$@"; }
mcp_roots_count() { __mcp_load paths mcp_roots_count "$@"; }
mcp_roots_contains() { __mcp_load paths mcp_roots_contains "$@"; }

mcp_result_text_with_resource() { __mcp_load resources mcp_result_text_with_resource "$@"; }

mcp_elicit() { __mcp_load questions mcp_elicit "$@"; }
mcp_elicit_url() { __mcp_load questions mcp_elicit_url "$@"; }
mcp_elicit_string() { __mcp_load questions mcp_elicit_string "$@"; }
mcp_elicit_confirm() { __mcp_load questions mcp_elicit_confirm "$@"; }
mcp_elicit_choice() { __mcp_load questions mcp_elicit_choice "$@"; }
mcp_elicit_titled_choice() { __mcp_load questions mcp_elicit_titled_choice "$@"; }
mcp_elicit_multi_choice() { __mcp_load questions mcp_elicit_multi_choice "$@"; }
mcp_elicit_titled_multi_choice() { __mcp_load questions mcp_elicit_titled_multi_choice "$@"; }
mcp_sample() { __mcp_load questions mcp_sample "$@"; }
mcp_sample_text() { __mcp_load questions mcp_sample_text "$@"; }
mcp_roots_ask() { __mcp_load questions mcp_roots_ask "$@"; }

mcp_config_load() { __mcp_load config mcp_config_load "$@"; }
mcp_config_get() { __mcp_load config mcp_config_get "$@"; }

mcp_download_safe() { __mcp_load download mcp_download_safe "$@"; }
mcp_download_safe_or_fail() { __mcp_load download mcp_download_safe_or_fail "$@"; }

mcp_with_retry() { __mcp_load commands mcp_with_retry "$@"; }
mcp_run_with_progress() { __mcp_load commands mcp_run_with_progress "$@"; }
mcp_extract_cli_error() { __mcp_load commands mcp_extract_cli_error "$@"; }

mcp_client_supports_ui() { __mcp_load ../ui-sdk mcp_client_supports_ui "$@"; }
mcp_result_with_ui() { __mcp_load ../ui-sdk mcp_result_with_ui "$@"; }
mcp_result_with_ui_data() { __mcp_load ../ui-sdk mcp_result_with_ui_data "$@"; }
mcp_ui_form() { __mcp_load ../ui-sdk mcp_ui_form "$@"; }
mcp_ui_table() { __mcp_load ../ui-sdk mcp_ui_table "$@"; }
mcp_tool_meta_with_ui() { __mcp_load ../ui-sdk mcp_tool_meta_with_ui "$@"; }

# Read here, once, so that every later `$(mcp_args_get ...)` inherits what was read.
__mcp_arguments_read
