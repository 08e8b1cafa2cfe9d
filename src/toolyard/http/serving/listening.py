"""Sockets to listen on. Imports next to nothing: a supervisor has to stay small."""

from __future__ import annotations

import socket
from typing import NamedTuple

BACKLOG = 1024


class Earlier(NamedTuple):
    """A connection that was accepted before the server ran."""

    sock: socket.socket
    data: bytes  # what was read of it
    # What is to be known of the answer, where the client has it; see `continued`.
    foretold: str = ""


def listen(host: str, port: int) -> socket.socket:
    """A listening socket; port 0 takes a free one."""
    sock = bind(host, port)
    sock.listen(BACKLOG)
    return sock


def bind(host: str, port: int) -> socket.socket:
    """It has its address, but takes no connection yet."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # The protocol is named because event loops look at it before they set TCP_NODELAY.
    sock = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.bind((host, port))
    except OSError:
        sock.close()
        raise
    sock.setblocking(False)
    return sock
