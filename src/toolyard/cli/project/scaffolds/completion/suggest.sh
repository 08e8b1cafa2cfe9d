#!/usr/bin/env bash
# Offers values for an argument of the prompt "@NAME@". What was typed so far is in .query.
set -euo pipefail

query=$(printf '%s' "$MCP_COMPLETION_ARGS_JSON" | "$MCPBASH_JSON_TOOL_BIN" -r '.query // ""')

found=''
for value in apple apricot banana cherry; do
	if [[ $value == "$query"* ]]; then
		found+="${found:+,}\"$value\""
	fi
done
printf '[%s]\n' "$found"
