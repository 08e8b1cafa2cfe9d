#!/usr/bin/env bash
set -euo pipefail
# shellcheck source=/dev/null
source "${MCP_SDK:?}/tool-sdk.sh"
mcp_emit_text 'let in'
