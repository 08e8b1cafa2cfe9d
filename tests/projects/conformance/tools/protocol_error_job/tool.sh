#!/bin/sh
printf '{"code":-32603,"message":"The job broke the protocol on purpose"}' >"$MCP_TOOL_ERROR_FILE"
exit 1
