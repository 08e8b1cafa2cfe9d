#!/bin/sh
name=$("$MCPBASH_JSON_TOOL_BIN" -r .name <<END
$MCP_TOOL_ARGS_JSON
END
)
printf 'Hello, %s!' "$name"
