"""The MCP endpoint over HTTP: three transports of two eras on one path."""
