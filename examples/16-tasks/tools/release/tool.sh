#!/usr/bin/env bash
# Nothing here knows of tasks: progress, logs and the question are those of any other script.
source "${MCP_SDK:?}/tool-sdk.sh"

field() {
	printf '%s' "$1" | "$MCPBASH_JSON_TOOL_BIN" -r "$2"
}
arguments=$MCP_TOOL_ARGS_JSON
version=$(field "$arguments" '.version') pause=$(field "$arguments" '.pause // 1')

done=0
for step in compiling testing packing; do
	mcp_progress "$done" "$step $version" 100
	sleep "$pause"
	done=$((done + 25))
done
mcp_log_info release "$version is built"

sure=$(mcp_elicit_confirm "Publish $version?")
if [[ $(field "$sure" '.action') != accept || $(field "$sure" '.content.confirmed') != true ]]; then
	mcp_emit_text "Built $version; it was not published."
	exit 0
fi
mcp_progress "$done" "publishing $version" 100
sleep "$pause"
mcp_emit_text "Published $version."
