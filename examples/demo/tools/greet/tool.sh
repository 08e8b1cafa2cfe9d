#!/usr/bin/env bash
# The smallest useful tool: read an argument, print text.
source "${MCP_SDK:?}/tool-sdk.sh"

name=$(mcp_args_get '.name' --default 'world')
case $(mcp_args_get '.style' --default 'friendly') in
formal) greeting="Good day, $name." ;;
pirate) greeting="Ahoy, $name!" ;;
*) greeting="Hello, $name!" ;;
esac
mcp_emit_text "$greeting"
