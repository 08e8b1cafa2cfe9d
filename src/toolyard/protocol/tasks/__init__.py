"""Tasks, in the words of both forms that MCP has for them. Pure."""
