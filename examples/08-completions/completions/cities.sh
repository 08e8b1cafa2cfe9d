#!/usr/bin/env bash
# Offers cities that begin with what was typed, a page at a time.
set -euo pipefail

asked() {
	printf '%s' "$MCP_COMPLETION_ARGS_JSON" | "$MCPBASH_JSON_TOOL_BIN" -r "$1"
}
query=$(asked '.query // ""')
# What the user has filled in already: nobody travels from Bergen to Bergen.
origin=$(asked '.context.arguments.from // ""')

found=()
for city in Barcelona Basel Bergen Berlin Bern Bilbao Bologna Bremen Oslo Turin; do
	if [[ $city == "$query"* && $city != "$origin" ]]; then
		found+=("\"$city\"")
	fi
done

page=("${found[@]:MCP_COMPLETION_OFFSET:MCP_COMPLETION_LIMIT}")
next=$((MCP_COMPLETION_OFFSET + ${#page[@]}))
more=false
if ((next < ${#found[@]})); then more=true; fi
IFS=,
printf '{"suggestions": [%s], "hasMore": %s, "next": %d}\n' "${page[*]-}" "$more" "$next"
