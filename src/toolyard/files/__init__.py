"""Files: stamps, whole writes, JSON as people write it. Knows no MCP."""
