#!/usr/bin/env bash
set -euo pipefail
# shellcheck source=/dev/null
source "${MCP_SDK:?}/tool-sdk.sh"
printf 'report\n' >"$MCPBASH_PROJECT_ROOT/report.txt"
mcp_result_text_with_resource "see the report" \
	--path "$MCPBASH_PROJECT_ROOT/report.txt" --mime text/plain --uri contract://report
