# shellcheck shell=bash
# Read by bash before a script when MCPBASH_TRACE_TOOLS is on: what it does goes to a file.
if [ -n "${MCPBASH_TRACE_DIR-}" ] && [ "${BASH_VERSINFO[0]}" -ge 4 ]; then
	MCPBASH_TRACE_FILE=${MCP_TOOL_NAME:-script}
	MCPBASH_TRACE_FILE=$MCPBASH_TRACE_DIR/trace.${MCPBASH_TRACE_FILE//[^A-Za-z0-9_.-]/_}.$$.log
	export MCPBASH_TRACE_FILE
	if (umask 077 && : >>"$MCPBASH_TRACE_FILE") 2>/dev/null; then
		exec 9>>"$MCPBASH_TRACE_FILE"
		BASH_XTRACEFD=9
		# shellcheck disable=SC2016 # expanded by the trace, line by line
		PS4=${MCPBASH_TRACE_PS4:-'+ ${BASH_SOURCE[0]##*/}:$LINENO: '}
		set -x
	fi
fi
