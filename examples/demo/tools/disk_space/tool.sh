#!/usr/bin/env bash
# Any command's output becomes structured data: print one JSON object.
source "${MCP_SDK:?}/tool-sdk.sh"

# -P keeps each file system on one line; sizes are in KiB.
read -r _ size used free _ mount < <(df -Pk . | tail -n 1)
mcp_emit_json "{
  \"mount\": $(mcp_json_escape "$mount"),
  \"sizeMiB\": $((size / 1024)),
  \"usedMiB\": $((used / 1024)),
  \"freeMiB\": $((free / 1024)),
  \"usedPercent\": $((used * 100 / size))
}"
