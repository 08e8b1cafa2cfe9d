"""The tools that each view lists, and what that costs a model. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from toolyard.catalog.entries import Tool
from toolyard.catalog.snapshot import Catalog
from toolyard.context.meta_tools import FIND_TOOLS, META_NAMES, META_TOOLS, is_for_models
from toolyard.context.owners import owner_of
from toolyard.context.reading import VIEWS, Reading, ViewName
from toolyard.context.sizes import tokens_in
from toolyard.protocol.call import JsonObject

# In a tool's `extra`: it is listed in every view.
PINNED = "listedInEveryView"
IsPinned = Callable[[Tool], bool]


def pinned(tool: Tool) -> bool:
    return tool.extra.get(PINNED) is True


def definitions(catalog: Catalog, view: ViewName, is_pinned: IsPinned = pinned) -> list[JsonObject]:
    """What `tools/list` shows in a view."""
    if view == "full":
        return [tool.definition for tool in catalog.tools.values() if tool.listed]
    find, *others = META_TOOLS
    first = find if view == "search" else _with_names(catalog)
    return [first, *others, *(tool.definition for tool in _pinned(catalog, is_pinned))]


def tokens_of(catalog: Catalog, view: ViewName, is_pinned: IsPinned = pinned) -> int:
    return tokens_in(definitions(catalog, view, is_pinned))


def chosen(reading: Reading, catalog: Catalog, is_pinned: IsPinned = pinned) -> ViewName:
    """The view asked for, or the fullest that its budget allows."""
    if reading.view is not None or reading.budget is None:
        return reading.view or "full"
    return fullest(reading.budget, sizes_of(catalog, is_pinned))


def sizes_of(catalog: Catalog, is_pinned: IsPinned = pinned) -> Mapping[ViewName, int]:
    return {view: tokens_of(catalog, view, is_pinned) for view in VIEWS}


def fullest(budget: int, sizes: Mapping[ViewName, int]) -> ViewName:
    return next((view for view in VIEWS if sizes[view] <= budget), "search")


def _pinned(catalog: Catalog, is_pinned: IsPinned) -> Iterator[Tool]:
    return (
        tool
        for tool in catalog.tools.values()
        if is_for_models(tool) and is_pinned(tool) and tool.name not in META_NAMES
    )


def _with_names(catalog: Catalog) -> JsonObject:
    description = f"{FIND_TOOLS['description']}\n\nAll tools, by server:\n{_names(catalog)}"
    return {**FIND_TOOLS, "description": description}


def _names(catalog: Catalog) -> str:
    by_owner: dict[str, list[str]] = {}
    for tool in catalog.tools.values():
        if is_for_models(tool):
            by_owner.setdefault(owner_of(tool, catalog.tools), []).append(tool.name)
    return "\n".join(f"{owner}: {' '.join(names)}" for owner, names in by_owner.items())
