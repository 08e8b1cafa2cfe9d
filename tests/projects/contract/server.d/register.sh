#!/usr/bin/env bash
# Completions, one more template and one more resource; all else is discovered.
mcp_completion_manual_begin
mcp_completion_register_manual '{"name":"plan","path":"completions/plan.sh","timeoutSecs":5}'
mcp_completion_manual_finalize
mcp_resources_templates_register_manual \
	'{"name":"counted","uriTemplate":"lines://{count}","description":"So many lines"}'
