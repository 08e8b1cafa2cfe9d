"""Dial a host only where its address may be reached: what was checked is what is dialled."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeAlias

from toolyard.http.addresses import NotAllowed, address_in, canonical_host, is_public
from toolyard.http.client import connected

Resolve: TypeAlias = Callable[[str, int], Awaitable[list[str]]]


async def resolved(host: str, port: int) -> list[str]:
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(entry[4][0]) for entry in found]


@dataclass(frozen=True, slots=True)
class GuardedDial:
    """Public addresses; loopback where allowed; `trusted` (host, port) pairs wherever they are."""

    loopback: bool = False
    trusted: frozenset[tuple[str, int]] = frozenset()
    resolve: Resolve = resolved

    async def __call__(self, host: str, port: int) -> socket.socket:
        """Raises NotAllowed before anything is sent."""
        if (host.lower(), port) in self.trusted:
            return await connected(host, port)
        return await connected(await self._checked(canonical_host(host), port), port)

    async def _checked(self, host: str, port: int) -> str:
        """An address of the host; every one of them must be allowed."""
        addresses = await self.resolve(host, port)
        for address in addresses:
            self._check(host, address)
        if not addresses:
            raise OSError("the host has no address")
        return addresses[0]

    def _check(self, host: str, text: str) -> None:
        address = address_in(text.partition("%")[0])
        if address is not None and is_public(address):
            return
        if address is not None and self.loopback and address.is_loopback:
            return
        raise NotAllowed(f"{host} has the address {text}, which is not public")
