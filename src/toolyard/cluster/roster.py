"""Who is there: each process says so in the store, again and again, and reads who else does.

What is known of the others may be a moment old. While the store is away, they are where they
were.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from toolyard.cluster.peers import PeerAddress
from toolyard.store.interface import Store, StoreError

GROUP = "processes"
EVERY, FOR = 0.5, 2.0  # seconds


@dataclass(frozen=True, slots=True)
class Card:
    """What a process says about itself."""

    host: str
    port: int
    keys: tuple[str, ...]  # fingerprints
    more: Mapping[str, Any]  # whatever other parts of it want to be known


class Roster:
    def __init__(self, store: Store, name: str, address: PeerAddress, keys: tuple[str, ...]):
        self._store = store
        self._name = name
        self._address = address
        self._keys = keys
        self._sayings: dict[str, Callable[[], Any]] = {}
        self.cards: Mapping[str, Card] = {}  # of all, this process included

    def say(self, topic: str, saying: Callable[[], Any]) -> None:
        """From now on our card has this as well: JSON, asked for each time."""
        self._sayings[topic] = saying

    def known(self, name: str) -> PeerAddress | None:
        card = self.cards.get(name)
        return PeerAddress(card.host, card.port) if card is not None else None

    def names(self) -> list[str]:
        return sorted(self.cards)

    async def find(self, name: str) -> PeerAddress | None:
        """One that we do not know may have come a moment ago."""
        if name not in self.cards:
            try:
                await self.refresh()
            except StoreError:
                return None
        return self.known(name)

    async def refresh(self) -> None:
        """Raises StoreError."""
        more = {topic: saying() for topic, saying in self._sayings.items()}
        card = orjson.dumps((*self._address, self._keys, more))
        joining = self._store.join(GROUP, self._name, card, FOR)
        _, members = await asyncio.gather(joining, self._store.members(GROUP))
        cards = {name: card_of(value) for name, value in members.items()}
        self.cards = {**self.cards, **cards} if just_back(self._store) else cards

    async def keep(self) -> None:
        while True:
            try:
                await self.refresh()
            except StoreError:
                pass  # its condition says so; the others are where they were
            await asyncio.sleep(EVERY)

    async def leave(self) -> None:
        try:
            await self._store.leave(GROUP, self._name)
        except StoreError:
            pass  # it is forgotten in a moment


def just_back(store: Store) -> bool:
    """It may have lost what it had, and others may not have written it again yet."""
    condition = store.condition
    return condition.reachable and time.time() - condition.since < FOR


def card_of(value: bytes) -> Card:
    host, port, keys, more = orjson.loads(value)
    return Card(host, port, tuple(keys), more)
