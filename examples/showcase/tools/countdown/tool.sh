#!/usr/bin/env bash
source "${MCP_SDK:?}/tool-sdk.sh"

from=$(mcp_args_int '.from' --default 5 --min 1 --max 30)
pause=$(mcp_args_get '.pause // 0.3')
for ((left = from; left > 0; left--)); do
	mcp_is_cancelled && exit 1
	mcp_progress $((100 * (from - left) / from)) "$left"
	sleep "$pause"
done
mcp_progress 100 'done'
mcp_emit_text "Counted down from $from."
