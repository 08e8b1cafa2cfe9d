"""Resolve a host once, check every address it has, and say which one to dial."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import TypeAlias

from toolyard.http.addresses import (
    Address,
    HostRules,
    NotAllowed,
    address_in,
    canonical_host,
    is_public,
)

Resolve: TypeAlias = Callable[[str, int], list[str]]


def resolve(host: str, port: int) -> list[str]:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(address[4][0]).partition("%")[0] for address in found]


class Dialler:
    """The checked address is the one that is dialled: a name is looked up only here."""

    def __init__(
        self,
        rules: HostRules,
        resolve: Resolve = resolve,
        permits: Callable[[Address], bool] = is_public,
    ) -> None:
        self._rules = rules
        self._resolve = resolve
        self._permits = permits

    def host(self, written: str) -> str:
        """The canonical host, if its name or literal address may be reached at all."""
        host = canonical_host(written)
        literal = address_in(host)
        if literal is not None and not self._permits(literal):
            raise NotAllowed(f"the address {host} is not public")
        self._rules.check(host)
        return host

    def addresses(self, host: str, port: int) -> list[str]:
        """Every address of the host; raises where one of them may not be reached. Blocks."""
        try:
            found = list(dict.fromkeys(self._resolve(host, port)))
        except (OSError, UnicodeError):
            found = []
        if not found:
            raise NotAllowed(f"the host {host} cannot be resolved")
        for written in found:
            address = address_in(written)
            if address is None or not self._permits(address):
                raise NotAllowed(f"the host {host} has the address {written}, which is not public")
        return found
