#!/usr/bin/env bash
# shellcheck source=/dev/null
source "${MCP_SDK:?}/tool-sdk.sh"
touch "$MCPBASH_PROJECT_ROOT/written"
