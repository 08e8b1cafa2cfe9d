"""What a caller is offered: the part of the current catalog that it may see."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from toolyard.catalog.keeper import Keeper
from toolyard.catalog.snapshot import Catalog
from toolyard.protocol.call import Call, Caller, JsonObject

# Narrows a catalog to what a caller may see; the same catalog where there are no rules.
View: TypeAlias = Callable[[Catalog, Caller], Catalog]


class Own(Protocol):
    """Adds to everybody's catalog what is there for a caller alone."""

    async def __call__(self, catalog: Catalog, caller: Caller) -> Catalog: ...

    @property
    def empty(self) -> bool:
        """There is nothing to add, for anybody."""


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
    own: Own | None = None
    arrivals: Arrivals | None = None
    # Called whenever somebody lists, before the answer: it must not wait for anything.
    listed: Callable[[], None] = lambda: None

    def at_hand(self, call: Call) -> Catalog | None:
        """The same as `to`, where nothing has to be waited for."""
        catalog = self.keeper.at_hand
        if catalog is None or (self.own is not None and not self.own.empty):
            return None
        return self.view(catalog, call.caller)

    async def having(self, sought: Callable[[Catalog], object], call: Call) -> Catalog:
        """The same as `to`: if it has not what is sought, once nothing more can arrive."""
        catalog = await self.to(call)
        if self.arrivals is None or not self.arrivals.unlisted or sought(catalog):
            return catalog
        await self.arrivals.arrive()
        await self.keeper.refresh()
        return await self.to(call)

    async def to(self, call: Call) -> Catalog:
        catalog = await self.keeper.catalog()
        if self.own is not None:
            catalog = await self.own(catalog, call.caller)
        return self.view(catalog, call.caller)
