"""The gateway as users meet it: the program, registry files, other MCP servers."""
