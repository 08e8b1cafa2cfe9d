#!/usr/bin/env bash
# Asks its user while it runs. A client that cannot be asked declines, as a user may.
source "${MCP_SDK:?}/tool-sdk.sh"

schema='{
  "type": "object",
  "properties": {
    "dish": {"type": "string", "title": "Dish", "enum": ["pasta", "curry", "salad"]},
    "people": {"type": "integer", "title": "For how many?", "minimum": 1, "maximum": 12, "default": 2}
  },
  "required": ["dish"]
}'
answer=$(mcp_elicit 'What would you like for lunch?' "$schema")

answered() {
	printf '%s' "$answer" | "${MCPBASH_JSON_TOOL_BIN:?}" -r "$1"
}
if [[ $(answered '.action') != accept ]]; then
	mcp_emit_text 'No lunch then. Maybe later!'
	exit 0
fi
dish=$(answered '.content.dish')
people=$(answered '.content.people // 2')

case $dish in
pasta) shopping="$((people * 100)) g pasta, $((people * 2)) tomatoes, basil" ;;
curry) shopping="$((people * 80)) g rice, $((people * 150)) g chickpeas, coconut milk" ;;
*) shopping="$people lettuces, $((people * 40)) g walnuts, a lemon" ;;
esac
mcp_emit_text "Lunch for $people: $dish. You need: $shopping."
