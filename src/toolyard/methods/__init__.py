"""What each MCP method means, a module per family."""
