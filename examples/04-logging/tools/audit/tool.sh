#!/usr/bin/env bash
source "${MCP_SDK:?}/tool-sdk.sh"

folder=$(mcp_require_path '.folder') || exit 1
kilobytes=$(mcp_args_int '.kilobytes' --default 100) || exit 1

mcp_log_info "looking at $folder"
count=0
while IFS= read -r -d '' file; do
	count=$((count + 1))
	mcp_log_warn "large: $file"
	# Structured data, under a logger of its own.
	mcp_log debug files "$(mcp_json_obj path "$file" size "$(wc -c <"$file")")"
done < <(find "$folder" -type f -size "+${kilobytes}k" -print0)

# stderr is kept for whoever runs the server; clients see its end in _meta.stderr.
echo "audited $folder" >&2
mcp_emit_text "$count large files"
