"""Other MCP servers, spoken to in their own revision."""
