#!/usr/bin/env bash
# Words that begin with what was typed, a page at a time.
query=$("$MCPBASH_JSON_TOOL_BIN" -r '.query // .prefix // ""' <<<"$MCP_COMPLETION_ARGS_JSON")
words=()
for word in alpha alps amber beta; do
	[ "${word#"$query"}" = "$word" ] && [ -n "$query" ] || words+=("\"$word\"")
done
page=("${words[@]:MCP_COMPLETION_OFFSET:MCP_COMPLETION_LIMIT}")
next=$((MCP_COMPLETION_OFFSET + MCP_COMPLETION_LIMIT))
more=false
[ "$next" -ge "${#words[@]}" ] || more=true
IFS=,
printf '{"suggestions":[%s],"hasMore":%s,"next":%d}\n' "${page[*]}" "$more" "$next"
