"""The server's side: sockets, connections, heads; how long each may keep us waiting."""
