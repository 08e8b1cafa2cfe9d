#!/usr/bin/env bash
# Adds the spare tool or takes it away again; hidden while it is being copied.
root=${MCPBASH_PROJECT_ROOT:?}
if [[ -e $root/tools/added_tool ]]; then
	rm -rf "$root/tools/added_tool"
else
	cp -R "$root/spare/added_tool" "$root/tools/.added_tool"
	mv "$root/tools/.added_tool" "$root/tools/added_tool"
fi
printf '{"method":"notifications/tools/list_changed"}\n' >>"${MCP_LOG_STREAM:?}"
printf 'The list of tools has changed.'
