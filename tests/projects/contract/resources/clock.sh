#!/usr/bin/env bash
printf 'at %s of %s' "$MCP_RESOURCE_URI" "$MCP_RESOURCE_NAME"
