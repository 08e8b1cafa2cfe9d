#!/usr/bin/env bash
set -euo pipefail
# shellcheck source=/dev/null
source "${MCP_SDK:?}/tool-sdk.sh"
mcp_result_success "$(mcp_json_obj greeting "${CONTRACT_GREETING-none}" tool "$MCP_TOOL_NAME" \
	server "$MCPBASH_SERVER_NAME" version "$MCP_PROTOCOL_VERSION" client "$MCP_CLIENT_INFO_JSON" \
	secret "${MCP_REGISTRY_TOKEN-}${PRIVATE-}" metadata "$MCP_TOOL_METADATA_JSON")"
