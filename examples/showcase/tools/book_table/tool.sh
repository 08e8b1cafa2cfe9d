#!/usr/bin/env bash
# Asks its user while it runs. A client that cannot be asked declines, as a user may.
source "${MCP_SDK:?}/tool-sdk.sh"

restaurant=$(mcp_args_get '.restaurant')
schema='{
  "type": "object",
  "properties": {
    "hour": {"type": "string", "title": "When?", "enum": ["18:00", "19:30", "21:00"]},
    "people": {"type": "integer", "title": "For how many?", "minimum": 1, "maximum": 8, "default": 2}
  },
  "required": ["hour"]
}'
answer=$(mcp_elicit "A table at $restaurant: when, and for how many?" "$schema")
answered() {
	printf '%s' "$answer" | "${MCPBASH_JSON_TOOL_BIN:?}" -r "$1"
}
if [[ $(answered '.action') != accept ]]; then
	mcp_emit_text 'Nothing was booked.'
	exit 0
fi
mcp_emit_text "A table for $(answered '.content.people // 2') at $restaurant, $(answered '.content.hour')."
