"""How this process stands with the others: is the store there, and do all serve the same?

A difference is everybody's to say, and the newcomer's to answer for: with a key that nobody
knows it is not ready, while those who were there before go on. Registries may differ while a new
one is rolled out, so that is said and nothing more.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from toolyard.cluster.cluster import Cluster, Shared
from toolyard.cluster.roster import Card

BEGAN, REGISTRY = "began", "registry"


@dataclass(frozen=True, slots=True)
class Difference:
    """Between this process and another one."""

    process: str
    place: str
    what: str
    is_ours: bool  # the other one was there before

    def __str__(self) -> str:
        return f"the process at {self.place} has {self.what}"


@dataclass(frozen=True, slots=True)
class Standing:
    """Of a process that shares a store with others."""

    name: str
    shared: Shared
    began: float = field(default_factory=time.time)

    @classmethod
    def of(cls, cluster: Cluster, registry: Callable[[], str]) -> Standing | None:
        """From now on the others know by the digest which registry is served here."""
        if cluster.shared is None:
            return None
        standing = cls(cluster.name, cluster.shared)
        cluster.shared.roster.say(BEGAN, lambda: standing.began)
        cluster.shared.roster.say(REGISTRY, registry)
        return standing

    @property
    def trouble(self) -> str:
        """What is wrong with the store; empty where nothing is."""
        return self.shared.store.condition.error

    @property
    def cut_off(self) -> bool:
        """Alone: others reach the store, and have taken over what was here."""
        return not self.shared.tenure.holds()

    def differences(self) -> list[Difference]:
        cards = self.shared.roster.cards
        own = cards.get(self.name)
        others = ((name, card) for name, card in cards.items() if name != self.name)
        return [] if own is None else [d for other in others for d in _between(own, *other)]

    def document(self) -> dict[str, Any]:
        """For people and monitors; without a password."""
        condition = self.shared.store.condition
        return {
            "place": condition.place,
            "reachable": condition.reachable,
            "since": round(condition.since, 3),
            "error": condition.error or None,
            "processes": [
                {"name": name, "address": _place(card), "self": name == self.name}
                for name, card in sorted(self.shared.roster.cards.items())
            ],
            "differences": list(map(str, self.differences())),
        }


def _between(own: Card, name: str, other: Card) -> Iterator[Difference]:
    was_there_before = _began(other) < _began(own)
    if not set(own.keys) & set(other.keys):
        what = "another cluster key: nothing can be shared with it"
        yield Difference(name, _place(other), what, was_there_before)
    # A process that has just come says who it is before it has read what it serves.
    registries = {card.more.get(REGISTRY) for card in (own, other)} - {None}
    if len(registries) > 1:
        yield Difference(name, _place(other), "another registry", False)


def _began(card: Card) -> float:
    began = card.more.get(BEGAN)
    return began if isinstance(began, float | int) else 0.0


def _place(card: Card) -> str:
    return f"{card.host}:{card.port}"
