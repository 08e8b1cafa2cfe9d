#!/usr/bin/env bash
file=${MCPBASH_PROJECT_ROOT:?}/resources/watched-resource.txt
printf 'Watched resource, version %s.%s' "$(date +%s)" "$$" >"${file%/*}/.watched"
mv "${file%/*}/.watched" "$file"
printf '{"method":"notifications/resources/updated","params":{"uri":"test://watched-resource"}}\n' >>"${MCP_LOG_STREAM:?}"
printf 'The watched resource has changed.'
