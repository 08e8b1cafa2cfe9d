"""Child processes: started, fed, heard, ended. Knows no MCP."""
