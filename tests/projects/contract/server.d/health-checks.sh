# shellcheck shell=bash
mcp_health_check_command bash 'bash is missing'
