#!/usr/bin/env bash
set -euo pipefail
# shellcheck source=/dev/null
source "${MCP_SDK:?}/tool-sdk.sh"
trap 'rm -f "$MCPBASH_PROJECT_ROOT/waiting"' EXIT
touch "$MCPBASH_PROJECT_ROOT/waiting"
while ! mcp_is_cancelled; do sleep 0.02; done
