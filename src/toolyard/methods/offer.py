"""What a caller is offered: the part of the current catalog that it may see."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from toolyard.catalog.keeper import Keeper
from toolyard.catalog.snapshot import Catalog
from toolyard.protocol.call import Call, Caller, Channel, JsonObject, Session

# Narrows a catalog to what a caller may see; the same catalog where there are no rules.
View: TypeAlias = Callable[[Catalog, Caller], Catalog]


class Cohorts(Protocol):
    """Puts in place of everybody's catalog what some clients are listed and others are not."""

    async def __call__(self, catalog: Catalog, call: Call, session: Session | None) -> Catalog: ...

    def begin(self, call: Call, session: Session | None) -> None:
        """It will be asked for: get ready, and do not wait."""

    def at_hand(self, catalog: Catalog, call: Call) -> Catalog | None:
        """What is known of it. None where that is not good enough even to call something."""


class Arrivals(Protocol):
    """What is on offer and not in the catalog yet: servers start, and then say what they have."""

    @property
    def unlisted(self) -> int:
        """How many of them there are."""

    async def arrive(self) -> None:
        """Wait until there are none; none takes longer than a server may take to start."""


def everything(catalog: Catalog, _caller: Caller) -> Catalog:
    return catalog


@dataclass(frozen=True, slots=True)
class PageSizes:
    """How many items a list page has when the client does not say, and at most."""

    default: int = 1000
    most: int = 1000
    templates_default: int = 50
    templates_most: int = 200


@dataclass(frozen=True, slots=True)
class Offer:
    keeper: Keeper
    stamp: JsonObject  # what modern results say of the server
    sizes: PageSizes = PageSizes()
    view: View = everything
    cohorts: Cohorts | None = None
    arrivals: Arrivals | None = None
    # Called whenever somebody lists, before the answer: it must not wait for anything.
    listed: Callable[[], None] = lambda: None

    def at_hand(self, call: Call) -> Catalog | None:
        """What is found there may be used; `to` may have more, and waits for it."""
        catalog = self.keeper.at_hand
        if catalog is not None and self.cohorts is not None:
            catalog = self.cohorts.at_hand(catalog, call)
        return None if catalog is None else self.view(catalog, call.caller)

    async def having(
        self, sought: Callable[[Catalog], object], call: Call, channel: Channel
    ) -> Catalog:
        """What is at hand or `to`: where neither has it, once nothing more can arrive."""
        known = self.at_hand(call)
        if known is not None and sought(known):
            return known
        catalog = await self.to(call, channel)
        if self.arrivals is None or not self.arrivals.unlisted or sought(catalog):
            return catalog
        await self.arrivals.arrive()
        await self.keeper.refresh()
        return await self.to(call, channel)

    async def to(self, call: Call, channel: Channel) -> Catalog:
        if self.cohorts is not None and self.keeper.at_hand is None:
            self.cohorts.begin(call, channel.session)
        catalog = await self.keeper.catalog()
        if self.cohorts is not None:
            catalog = await self.cohorts(catalog, call, channel.session)
        return self.view(catalog, call.caller)
