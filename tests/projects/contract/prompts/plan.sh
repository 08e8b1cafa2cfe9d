#!/usr/bin/env bash
# A whole result: an image, an embedded resource and text.
topic=$("$MCPBASH_JSON_TOOL_BIN" -r '.topic' <<<"$MCP_PROMPT_ARGS_JSON")
printf '{"description":"A plan","messages":[%s,%s,%s]}\n' \
	'{"role":"user","content":{"type":"image","data":"iVBORw0KGgo=","mimeType":"image/png"}}' \
	'{"role":"user","content":{"type":"resource","resource":{"uri":"contract://note","mimeType":"text/plain","text":"A note."}}}' \
	"{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":\"Plan $topic\"}}"
