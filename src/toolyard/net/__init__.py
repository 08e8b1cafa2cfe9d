"""Reaching other machines: addresses, connections, HTTP. Knows nothing about MCP."""
