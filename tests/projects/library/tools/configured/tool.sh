#!/usr/bin/env bash
# shellcheck source=/dev/null
source "${MCP_SDK:?}/tool-sdk.sh"
cd "$MCPBASH_PROJECT_ROOT"
export OWN_SETTINGS='{"colour": "variable"}'
mcp_config_load --env OWN_SETTINGS --file config/settings.json --example config/example.json \
	--defaults '{"host": "default", "size": "large"}'
mcp_result_success "$(mcp_json_obj all "$MCP_CONFIG_JSON" colour "$(mcp_config_get .colour)" \
	none "$(mcp_config_get .none --default nothing)")"
