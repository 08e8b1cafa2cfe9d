#!/usr/bin/env bash
# A client of 2025-11-25 comes back for the rest with Last-Event-ID; others keep their stream.
printf '{"control":"close_stream"}\n' >>"${MCP_LOG_STREAM:?}"
sleep 0.2
printf 'Reconnection test completed'
