"""How many connections there may be, and how long each may keep us waiting. Knows no HTTP."""

from __future__ import annotations

import resource
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv6Address, ip_address

# The share of our file descriptors; the rest is for scripts, upstreams and files.
FOR_CONNECTIONS = 0.75
_BESIDE = 1024


@dataclass(frozen=True, slots=True)
class Patience:
    """How many seconds we wait for a client, and how many connections there may be."""

    head: float = 10.0
    body: float = 60.0
    stall: float = 60.0
    idle: float = 75.0
    connections: int = 4096
    per_address: int = 256

    def make_room(self) -> None:
        """Let us open as many descriptors as this takes, where the operator's bound is higher.

        Each client may need one to another server as well, and scripts and files need some. Not
        more than that: what we start inherits it, and some programs close all that they may have.
        """
        enough = 2 * self.connections + _BESIDE
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if hard != resource.RLIM_INFINITY:
            enough = min(enough, hard)
        if soft == resource.RLIM_INFINITY or soft >= enough:
            return
        # Some systems have a further bound that they do not tell.
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (enough, hard))

    @property
    def most(self) -> int:
        """As many connections as asked for, if there are descriptors for them."""
        soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        if soft == resource.RLIM_INFINITY:
            return self.connections
        return min(self.connections, int(soft * FOR_CONNECTIONS))


class Addresses:
    """How many connections there are from each address.

    Those of this machine are not counted: a proxy in front of us connects from here for everybody.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._counts: Counter[str] = Counter()

    def enter(self, address: str) -> bool:
        """False if there are too many. `leave` must be called in either case."""
        origin = origin_of(address)
        if origin is None:
            return True
        self._counts[origin] += 1
        return self._counts[origin] <= self._most

    def leave(self, address: str) -> None:
        origin = origin_of(address)
        if origin is None:
            return
        self._counts[origin] -= 1
        if not self._counts[origin]:
            del self._counts[origin]


@lru_cache(maxsize=1024)
def origin_of(address: str) -> str | None:
    """Who counts as one: an IPv4 address, or a /64 of IPv6. None for this machine."""
    try:
        ip = ip_address(address.partition("%")[0])
    except ValueError:
        return None  # not an address: a socket of this machine
    if isinstance(ip, IPv6Address):
        ip = ip.ipv4_mapped or ip
    if ip.is_loopback:
        return None
    bits = 64 if isinstance(ip, IPv6Address) else 0
    return str(type(ip)(int(ip) >> bits << bits))
