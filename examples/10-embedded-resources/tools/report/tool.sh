#!/usr/bin/env bash
# The result carries two files. The server reads them when the script has ended.
source "${MCP_SDK:?}/tool-sdk.sh"

title=$(mcp_args_get '.title' --default 'Report')
folder=$MCPBASH_PROJECT_ROOT/reports
mkdir -p "$folder"
printf '# %s\n\nAll is well.\n' "$title" >"$folder/report.md"
printf 'day,visitors\nmonday,12\n' >"$folder/visitors.csv"

mcp_result_text_with_resource '{"visitors": 12}' \
	--path "$folder/report.md" --mime text/markdown --uri report://latest \
	--path "$folder/visitors.csv" --mime text/csv --uri report://visitors
