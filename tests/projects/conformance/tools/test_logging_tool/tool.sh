#!/usr/bin/env bash
printf '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"test_logging_tool ran"}}\n' >>"${MCP_LOG_STREAM:?}"
printf 'Logged once.'
