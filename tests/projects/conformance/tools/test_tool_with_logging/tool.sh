#!/usr/bin/env bash
log() {
	printf '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","logger":"test_tool_with_logging","data":"%s"}}\n' "$1" >>"${MCP_LOG_STREAM:?}"
}
log 'Tool execution started'
sleep 0.05
log 'Tool processing data'
sleep 0.05
log 'Tool execution completed'
printf 'Tool with logging executed successfully'
