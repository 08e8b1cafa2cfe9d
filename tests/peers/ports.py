"""Ports for programs that cannot be told to take a free one and say which. Linux."""

from __future__ import annotations

import itertools
import os
import socket

# Below what the system gives to connections, which could take a port before the program does.
# Redis talks with its like ten thousand above its own port: that is free as well.
FIRST, LAST = 12_000, 22_000
_numbers = itertools.count(os.getpid() * 97)
_claims: list[socket.socket] = []


def free_port(count: int = 1) -> int:
    """A port of 127.0.0.1 that no other test has or gets, in no process, while this one lives.

    Of several that follow each other, the first.
    """
    while True:
        ports = [FIRST + next(_numbers) % (LAST - FIRST) for _ in range(count)]
        if ports[-1] - ports[0] == count - 1 and all(_claimed(p) and _unused(p) for p in ports):
            return ports[0]


def _claimed(port: int) -> bool:
    """A name in the kernel, which goes with the process."""
    claim = socket.socket(socket.AF_UNIX)
    try:
        claim.bind(f"\0toolyard-test-port-{port}")
    except OSError:
        claim.close()
        return False
    _claims.append(claim)
    return True


def _unused(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True
