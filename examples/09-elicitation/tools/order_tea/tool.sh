#!/usr/bin/env bash
source "${MCP_SDK:?}/tool-sdk.sh"

field() {
	printf '%s' "$1" | "$MCPBASH_JSON_TOOL_BIN" -r "$2"
}
accepted() {
	[[ $(field "$1" '.action') == accept ]]
}

order=$(mcp_elicit 'What may it be?' '{
  "type": "object",
  "properties": {
    "kind": {"type": "string", "title": "Kind", "enum": ["green", "black", "mint"]},
    "cups": {"type": "integer", "title": "Cups", "minimum": 1, "maximum": 10, "default": 1}
  },
  "required": ["kind"]
}')
# A user may refuse, or be a client that cannot be asked: both are an answer.
if ! accepted "$order"; then
	mcp_emit_text 'No tea then.'
	exit 0
fi
kind=$(field "$order" '.content.kind') cups=$(field "$order" '.content.cups // 1')

sure=$(mcp_elicit_confirm "$cups x $kind tea, is that right?")
if accepted "$sure" && [[ $(field "$sure" '.content.confirmed') == true ]]; then
	mcp_emit_text "Ordered: $cups x $kind tea."
else
	mcp_emit_text 'Nothing was ordered.'
fi
