"""What all connections of an HTTP server have in common: heads, limits, who is connected."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from toolyard.http.heads import Header
from toolyard.http.patience import Addresses, Patience
from toolyard.http.response import Responder, lines, status_line

if TYPE_CHECKING:
    from toolyard.http.server import Connection

MOST_HEADS = 64


@dataclass(slots=True)
class Shared:
    """What all connections of a server have in common."""

    responder: Responder
    loop: asyncio.AbstractEventLoop
    date: bytes = b""
    closing: bool = False
    patience: Patience = field(default_factory=Patience)
    connections: set[Connection] = field(default_factory=set)
    tasks: set[asyncio.Task[None]] = field(default_factory=set)
    # Of whole responses, up to the number of bytes, of this second.
    _heads: dict[tuple[int, tuple[Header, ...]], bytes] = field(default_factory=dict)
    most: int = 0
    addresses: Addresses = field(init=False)

    def __post_init__(self) -> None:
        self.most, self.addresses = self.patience.most, Addresses(self.patience.per_address)

    def tick(self, now: str) -> None:
        self.date = f"date: {now}\r\n".encode()
        self._heads.clear()

    def has_room(self) -> bool:
        """For the connection that has just been made; the longest idle one makes way for it."""
        if len(self.connections) <= self.most:
            return True
        idle = [connection for connection in self.connections if connection.idle]
        if len(idle) < 2:  # the new one is idle as well
            return False
        min(idle, key=lambda connection: connection.last_active).close()
        return True

    def head(self, status: int, headers: tuple[Header, ...]) -> bytes:
        known = self._heads.get((status, headers))
        if known is not None:
            return known
        parts = (status_line(status), self.date, lines(headers), b"content-length: ")
        head = self._heads[status, headers] = b"".join(parts)
        if len(self._heads) > MOST_HEADS:
            self._heads.clear()
        return head
