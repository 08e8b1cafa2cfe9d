#!/usr/bin/env bash
set -euo pipefail
# shellcheck source=/dev/null
source "${MCP_SDK:?}/tool-sdk.sh"
count=$(mktemp); trap 'rm -f "$count"' EXIT
flaky() { echo x >>"$count"; [ "$(wc -l <"$count")" -ge 3 ] || return 7; echo "third time"; }
retried=$(mcp_with_retry 4 0.01 -- flaky)
counting() { for n in 1 2; do echo "done $n/2" >&2; done; echo counted; }
counted=$(mcp_run_with_progress --pattern 'done ([0-9]+)/([0-9]+)' --extract ratio --quiet -- counting)
mcp_config_load --file "$MCPBASH_PROJECT_ROOT/config/settings.json" --defaults '{"size":"large"}'
error=$(mcp_extract_cli_error '{"error":{"message":"inner"}}' "" 1)
short=$(mcp_json_truncate '{"items":["aaaaaaaaaa","bbbbbbbbbb","cccccccccc"]}' 30)
download=$(mcp_download_safe --url https://127.0.0.1/x --out /dev/null --allow 127.0.0.1 || true)
mcp_result_success "$(mcp_json_obj retried "$retried" counted "$counted" \
	colour "$(mcp_config_get .colour)" size "$(mcp_config_get .size)" error "$error" \
	short "$short" download "$download")"
