#!/usr/bin/env bash
# Adds the spare prompt or takes it away again; hidden while it is being copied.
root=${MCPBASH_PROJECT_ROOT:?}
if [[ -e $root/prompts/added_prompt ]]; then
	rm -rf "$root/prompts/added_prompt"
else
	cp -R "$root/spare/added_prompt" "$root/prompts/.added_prompt"
	mv "$root/prompts/.added_prompt" "$root/prompts/added_prompt"
fi
printf '{"method":"notifications/prompts/list_changed"}\n' >>"${MCP_LOG_STREAM:?}"
printf 'The list of prompts has changed.'
