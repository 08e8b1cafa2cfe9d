#!/usr/bin/env bash
# Reports progress while it runs, and stops as soon as its client has lost interest.
source "${MCP_SDK:?}/tool-sdk.sh"

seconds=$(mcp_args_int '.seconds' --default 5 --min 1 --max 20)
mcp_log_info "Counting down from $seconds"
for ((left = seconds; left > 0; left--)); do
	mcp_is_cancelled && exit 1
	mcp_progress $((seconds - left)) "$left" "$seconds"
	sleep 1
done
mcp_progress "$seconds" 'Lift-off' "$seconds"
mcp_emit_text 'Lift-off!'
