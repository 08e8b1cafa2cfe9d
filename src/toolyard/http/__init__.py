"""HTTP/1.1 in both directions. Knows no MCP."""
