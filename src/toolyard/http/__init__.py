"""HTTP/1.1 in both directions. Knows no MCP.

In: a `server` accepts, a `server_connection` parses, and for each `request` a Responder fills in
a `response`. Out: a `client` keeps `client_connection`s to reuse. What somebody else named is
reached only through `fetch`, which checks each of its `addresses` before it may `dial` it.
Either side takes a head that it has seen before for what it meant then (`known_heads`).
"""
