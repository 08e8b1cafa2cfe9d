"""Toolyard: a folder of executables and other MCP servers, as one MCP server."""

__version__ = "0.1.0"
# What the command `mcp-bash` stands for: wrappers and scripts compare it.
MCP_BASH_VERSION = "1.3.0"
