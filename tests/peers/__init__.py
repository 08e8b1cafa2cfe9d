"""What tests put on the other end of the wire: the real program, raw clients, an SDK server."""
