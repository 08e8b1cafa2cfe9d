#!/usr/bin/env bash
set -euo pipefail
# shellcheck source=/dev/null
source "${MCP_SDK:?}/tool-sdk.sh"
case $(mcp_args_get '.how') in
arguments) mcp_fail_invalid_args "no such thing" '{"field":"how"}' ;;
result) mcp_result_error '{"type":"quota","message":"all gone"}' ;;
model) mcp_error not_found "nothing there" --hint "look elsewhere" ;;
exit) echo "to stderr" >&2; exit 3 ;;
*) mcp_fail -32050 "it failed" '{"why":"asked to"}' ;;
esac
