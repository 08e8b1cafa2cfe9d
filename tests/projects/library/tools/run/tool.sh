#!/usr/bin/env bash
# shellcheck source=/dev/null
source "${MCP_SDK:?}/tool-sdk.sh"
count="$(mktemp)"
trap 'rm -f "$count" "$count.err"' EXIT
flaky() {
	echo x >>"$count"
	[ "$(wc -l <"$count")" -ge 3 ] || return 7
	echo "third time"
}
counting() {
	for n in 1 2; do echo "done $n/2" >&2; done
	echo trouble >&2
	echo counted
}
retried="$(mcp_with_retry 4 0.01 -- flaky)"
counted="$(mcp_run_with_progress --pattern 'done ([0-9]+)/([0-9]+)' --extract ratio \
	--stderr-file "$count.err" -- counting)"
dry="$(mcp_run_with_progress --dry-run --quiet --pattern '([0-9]+)%' -- bash -c 'echo 5% >&2' 2>&1)"
download="$(mcp_download_safe --url https://127.0.0.1/x --out /dev/null --allow 127.0.0.1)"
[ "$(mcp_args_get '.download')" != fail ] ||
	mcp_download_safe_or_fail --url http://example.com/x --out /dev/null
mcp_result_success "$(mcp_json_obj retried "$retried" counted "$counted" dry "$dry" \
	errors "$(cat "$count.err")" download "$download" \
	deep "$(mcp_extract_cli_error '{"error":{"message":"inner"}}' noise 1)" \
	last "$(mcp_extract_cli_error '{"success":true,"message":"fine"}' '' 4)")"
