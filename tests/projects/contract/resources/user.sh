#!/usr/bin/env bash
printf '%s' "$MCP_TEMPLATE_ARGS_JSON"
