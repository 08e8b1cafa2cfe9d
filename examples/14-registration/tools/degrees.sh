#!/usr/bin/env bash
# One script, two tools: the name tells which one is meant.
source "${MCP_SDK:?}/tool-sdk.sh"

degrees=$(mcp_args_require '.degrees')
case $MCP_TOOL_NAME in
celsius) formula='(d - 32) * 5 / 9' ;;
fahrenheit) formula='d * 9 / 5 + 32' ;;
esac
awk -v d="$degrees" "BEGIN { printf \"%.1f\", $formula }"
