"""How many connections there may be, and how long each may keep us waiting. Knows no HTTP."""

from __future__ import annotations

import resource
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv6Address, ip_address

# Of the descriptors that we may have: the rest is for scripts, upstreams and files.
FOR_CONNECTIONS = 0.75


@dataclass(frozen=True, slots=True)
class Patience:
    """Seconds, and numbers of connections."""

    head: float = 10.0
    body: float = 60.0
    stall: float = 60.0
    idle: float = 75.0
    connections: int = 4096
    per_address: int = 256

    @property
    def most(self) -> int:
        """As many as asked for, as far as there are descriptors for them."""
        soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        if soft == resource.RLIM_INFINITY:
            return self.connections
        return min(self.connections, int(soft * FOR_CONNECTIONS))


class Addresses:
    """How many connections there are from where. This machine's own programs are not counted:
    whoever stands before us (a proxy) connects from here for everybody.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._held: Counter[str] = Counter()

    def enter(self, address: str) -> bool:
        """False where there are as many as there may be; to be left all the same."""
        origin = origin_of(address)
        if origin is None:
            return True
        self._held[origin] += 1
        return self._held[origin] <= self._most

    def leave(self, address: str) -> None:
        origin = origin_of(address)
        if origin is None:
            return
        self._held[origin] -= 1
        if not self._held[origin]:
            del self._held[origin]


@lru_cache(maxsize=1024)
def origin_of(address: str) -> str | None:
    """Whose it is: of IPv6, everybody has a whole /64. None for this machine."""
    try:
        parsed = ip_address(address.partition("%")[0])
    except ValueError:
        return None  # no address at all: a socket of this machine
    if isinstance(parsed, IPv6Address):
        parsed = parsed.ipv4_mapped or parsed
    if parsed.is_loopback:
        return None
    bits = 64 if isinstance(parsed, IPv6Address) else 0
    return str(type(parsed)(int(parsed) >> bits << bits))
