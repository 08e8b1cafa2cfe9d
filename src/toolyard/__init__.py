"""Toolyard: a folder of executables and other MCP servers, as one MCP server."""

__version__ = "0.1.0"
