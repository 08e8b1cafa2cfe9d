"""Connections to other MCP servers, against real peers."""
