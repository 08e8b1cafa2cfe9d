#!/usr/bin/env bash
# Offers the words that start with what was typed; the value is plain in these tests.
[[ ${MCP_COMPLETION_ARGS_JSON:-} =~ \"argument\":[[:space:]]*\{[^}]*\"value\":[[:space:]]*\"([a-z]*)\" ]] && typed=${BASH_REMATCH[1]}
found=()
for word in paris park party test testing; do
	[[ $word == "${typed:-}"* ]] && found+=("\"$word\"")
done
IFS=,
printf '[%s]\n' "${found[*]}"
