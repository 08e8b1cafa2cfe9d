#!/usr/bin/env bash
# shellcheck source=/dev/null
source "${MCP_SDK:?}/ui-sdk.sh"
shows=no
mcp_client_supports_ui && shows=yes
case "$(mcp_args_get '.how' --default meta)" in
ui) mcp_result_with_ui ui://library/board "shown: $shows" ;;
data) mcp_result_with_ui_data ui://library/board '{"cards":3}' "shown: $shows" ;;
meta)
	mcp_result_success "$(mcp_json_obj form "$(mcp_ui_form Title '[{"name":"a"}]' submit)" \
		table "$(mcp_ui_table Title '[{"key":"a"}]' '[{"a":1}]')" \
		tool "$(mcp_tool_meta_with_ui ui://library/board model)")"
	;;
esac
