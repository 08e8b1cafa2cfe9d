"""Dial a host only if its address may be reached.

A name is looked up once; every address it has must be allowed, and the addresses that were
checked are the ones that are dialled, so a name that changes in between gains nothing.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeAlias

from toolyard.http.fetching.addresses import (
    Address,
    HostRules,
    NotAllowed,
    address_in,
    canonical_host,
    is_public,
)
from toolyard.http.fetching.client import connected, first_connected

Resolve: TypeAlias = Callable[[str, int], Awaitable[list[str]]]
ANY_HOST = HostRules(allow_all=True)


async def resolved(host: str, port: int) -> list[str]:
    infos = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(entry[4][0]).partition("%")[0] for entry in infos]


@dataclass(frozen=True, slots=True)
class GuardedDial:
    """Public addresses; loopback if allowed; `trusted_hosts` (host, port) wherever they are."""

    rules: HostRules = ANY_HOST
    loopback: bool = False
    trusted_hosts: frozenset[tuple[str, int]] = frozenset()
    resolve: Resolve = resolved

    async def __call__(self, host: str, port: int) -> socket.socket:
        """Raises NotAllowed before anything is sent."""
        if (host.lower(), port) in self.trusted_hosts:
            return await connected(host, port)
        addresses = await self.addresses(self.host(host), port)
        return await first_connected([(_family(address), (address, port)) for address in addresses])

    def host(self, text: str) -> str:
        """The canonical host, if its name or literal address may be reached at all."""
        host = canonical_host(text)
        literal = address_in(host)
        if literal is not None and not self._permits(literal):
            raise NotAllowed(f"the address {host} is not public")
        self.rules.check(host)
        return host

    async def addresses(self, host: str, port: int) -> list[str]:
        """Every address of the host. Raises NotAllowed if one of them may not be reached."""
        try:
            addresses = list(dict.fromkeys(await self.resolve(host, port)))
        except (OSError, UnicodeError):
            addresses = []
        if not addresses:
            raise NotAllowed(f"the host {host} cannot be resolved")
        for text in addresses:
            address = address_in(text)
            if address is None or not self._permits(address):
                raise NotAllowed(f"the host {host} has the address {text}, which is not public")
        return addresses

    def _permits(self, address: Address) -> bool:
        return is_public(address) or (self.loopback and address.is_loopback)


def _family(address: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in address else socket.AF_INET
