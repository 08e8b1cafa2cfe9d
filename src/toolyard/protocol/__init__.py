"""What MCP says. Pure: no I/O, no tasks, no clock, no environment."""
