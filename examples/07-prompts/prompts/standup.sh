#!/usr/bin/env bash
# An executable prompt prints a text, or a whole result with messages of its own.
source "${MCP_SDK:?}/tool-sdk.sh"

name=$(printf '%s' "$MCP_PROMPT_ARGS_JSON" | "$MCPBASH_JSON_TOOL_BIN" -r '.name // "everybody"')
notes=$(cat "$MCPBASH_PROJECT_ROOT/notes.md")
cat <<JSON
{
  "messages": [
    {"role": "user", "content": {"type": "text", "text": $(mcp_json_escape "Write a short stand-up report for $name from these notes.")}},
    {"role": "user", "content": {"type": "resource", "resource": {
      "uri": "notes://today", "mimeType": "text/markdown", "text": $(mcp_json_escape "$notes")}}},
    {"role": "assistant", "content": {"type": "text", "text": "Yesterday:"}}
  ]
}
JSON
