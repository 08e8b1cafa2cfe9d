"""What a caller is offered: the part of the current catalog that it may see."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from toolyard.catalog.keeper import Keeper
from toolyard.catalog.snapshot import Catalog
from toolyard.protocol.call import Call, Caller, JsonObject

# Narrows a catalog to what a caller may see; the same catalog where there are no rules.
View: TypeAlias = Callable[[Catalog, Caller], Catalog]


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
    # Called whenever somebody lists, before the answer: it must not wait for anything.
    listed: Callable[[], None] = lambda: None

    async def to(self, call: Call) -> Catalog:
        return self.view(await self.keeper.catalog(), call.caller)
