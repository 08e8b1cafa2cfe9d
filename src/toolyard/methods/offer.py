"""What a caller is offered: the part of the current catalog that it may see."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from toolyard.catalog.announcer import Listener
from toolyard.catalog.keeper import Keeper
from toolyard.catalog.snapshot import Catalog, Narrowing
from toolyard.methods.views import FULL, ToolViews
from toolyard.protocol.call import Call, Channel, JsonObject, Session
from toolyard.protocol.kinds import LIST_CHANGED

NOTHING = Catalog()


class Cohorts(Protocol):
    """Gives a client its own catalog in place of everybody's, if servers list differently to it."""

    async def __call__(self, catalog: Catalog, call: Call, session: Session | None) -> Catalog: ...

    def begin(self, call: Call, session: Session | None) -> None:
        """This client's catalog will be needed: start making it, without waiting."""

    def at_hand(self, catalog: Catalog, call: Call) -> Catalog | None:
        """This client's catalog as far as it is known; None if even a call needs more."""


class Arrivals(Protocol):
    """What is on offer but not in the catalog yet: servers start, and then list what they have."""

    @property
    def unlisted(self) -> int:
        """How many servers have not listed yet."""

    async def arrive(self) -> None:
        """Wait until all have, at most for as long as a server may take to start."""


@dataclass(frozen=True, slots=True)
class PageSizes:
    """How many items a list page has if the client does not say, and at most."""

    default: int = 1000
    most: int = 1000
    templates_default: int = 50
    templates_most: int = 200


@dataclass(frozen=True, slots=True)
class Offer:
    """What is on offer to each caller: the catalog, as far as rules and servers show it."""

    keeper: Keeper
    stamp: JsonObject  # what modern results say about the server
    sizes: PageSizes = PageSizes()
    # To what a caller may see; None: everybody sees everything.
    narrow: Narrowing | None = None
    cohorts: Cohorts | None = None
    arrivals: Arrivals | None = None
    # How much of the tools is listed; None: always all of them.
    views: ToolViews | None = None
    # Called for every list, before the answer is made: it must not wait for anything.
    on_list: Callable[[], None] | None = None

    def at_hand(self, call: Call) -> Catalog | None:
        """What can be used without waiting; `to` may have more, and waits for it."""
        catalog = self.keeper.at_hand
        if catalog is not None and self.cohorts is not None:
            catalog = self.cohorts.at_hand(catalog, call)
        if catalog is None or self.narrow is None:
            return catalog
        return self.narrow(catalog, call.caller)

    async def having(
        self, has: Callable[[Catalog], object], call: Call, channel: Channel
    ) -> Catalog:
        """A catalog that `has` something: at hand, or after waiting, or once all have arrived."""
        at_hand = self.at_hand(call)
        if at_hand is not None and has(at_hand):
            return at_hand
        catalog = await self.to(call, channel)
        if self.arrivals is None or not self.arrivals.unlisted or has(catalog):
            return catalog
        await self.arrivals.arrive()
        await self.keeper.refresh()
        return await self.to(call, channel)

    async def lists_all(self, call: Call, channel: Channel) -> bool:
        """Does this call see every tool in its list, and so no tool of ours?"""
        if self.views is None or self.views.reading(call) == FULL:
            return True
        return self.views.view(call, await self.to(call, channel)) == "full"

    def heard_by(self, call: Call, listener: Listener) -> Listener:
        """The listener, told of changed tools only if the list that this client sees has changed.

        In a view that hides tools, the list stays the same whatever happens to those.
        """
        views = self.views
        if views is None or (views.reading(call) == FULL and views.reader() is None):
            return listener

        def digest() -> str:
            return views.shown(call, self.at_hand(call) or NOTHING).digest("tools")

        last = digest()

        def hear(method: str, params: JsonObject) -> None:
            nonlocal last
            if method != LIST_CHANGED["tools"]:
                listener(method, params)
                return
            before, last = last, digest()
            if before != last:
                listener(method, params)

        return hear

    async def to(self, call: Call, channel: Channel) -> Catalog:
        catalog = self.keeper.at_hand
        if catalog is None:
            if self.cohorts is not None:
                self.cohorts.begin(call, channel.session)
            catalog = await self.keeper.catalog()
        if self.cohorts is not None:
            catalog = await self.cohorts(catalog, call, channel.session)
        return catalog if self.narrow is None else self.narrow(catalog, call.caller)
