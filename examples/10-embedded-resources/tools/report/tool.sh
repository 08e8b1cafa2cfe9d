#!/usr/bin/env bash
# The result carries two files: one embedded by the SDK, one named to the server.
source "${MCP_SDK:?}/tool-sdk.sh"

title=$(mcp_args_get '.title' --default 'Report')
folder=$MCPBASH_PROJECT_ROOT/reports
mkdir -p "$folder"
printf '# %s\n\nAll is well.\n' "$title" >"$folder/report.md"
printf 'day,visitors\nmonday,12\n' >"$folder/visitors.csv"

# Files below the roots are read by the server when the script has ended.
printf '%s\t%s\t%s\n' "$folder/visitors.csv" text/csv report://visitors >"$MCP_TOOL_RESOURCES_FILE"

mcp_result_text_with_resource '{"visitors": 12}' \
	--path "$folder/report.md" --mime text/markdown --uri report://latest
