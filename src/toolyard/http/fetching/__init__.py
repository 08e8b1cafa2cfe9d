"""The client's side: connections, guarded addresses, documents that somebody else named."""
