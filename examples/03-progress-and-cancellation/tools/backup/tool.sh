#!/usr/bin/env bash
source "${MCP_SDK:?}/tool-sdk.sh"

files=$(mcp_args_int '.files' --default 5)
pause=$(mcp_args_get '.pause' --default 0.2)

# Whatever ends the script, its work folder goes: cancellation is a TERM signal first.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 143' TERM

for ((done = 0; done < files; done++)); do
	if mcp_is_cancelled; then
		exit 1
	fi
	mcp_progress "$done" "copying file $((done + 1))" "$files"
	sleep "$pause"
	: >"$work/$done"
done
mcp_progress "$files" 'done' "$files"
mcp_emit_text "Backed up $files files."
