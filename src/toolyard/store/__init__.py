"""What processes share and what outlives one of them. Knows no MCP."""
