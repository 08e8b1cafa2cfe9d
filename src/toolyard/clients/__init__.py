"""The programs that people use MCP servers with: where each keeps its servers, and how."""
