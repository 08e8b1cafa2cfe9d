#!/usr/bin/env bash
source "${MCP_SDK:?}/tool-sdk.sh"

# A path from a model is resolved, links and all, and must lie below a root.
folder=$(mcp_require_path '.folder')
name=$(mcp_args_get '.name' --default 'archive')
target=$MCPBASH_PROJECT_ROOT/archives/$name.tar.gz
mkdir -p "${target%/*}"

# No shell sees the arguments, and -- ends the options: a name may begin with a dash.
if ! output=$(tar -czf "$target" -C "$folder" -- . 2>&1); then
	mcp_error internal_error "tar failed: $(mcp_extract_cli_error '' "$output" 1)"
	exit 0
fi

files=()
while IFS= read -r file; do
	files+=("$file")
done < <(tar -tzf "$target" | grep -v '/$')
mcp_result_success "{\"archive\": $(mcp_json_escape "$target"), \"files\": $(mcp_json_arr ${files[@]+"${files[@]}"})}"
