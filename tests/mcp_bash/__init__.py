"""The command `mcp-bash`: what its users rely on."""
