"""Where an entry stands in a document: under a name in a map, or as an item of a list. Pure."""

from __future__ import annotations

from typing import Any, NamedTuple

# Nothing that people write has more values; what has is made of aliases of aliases.
MOST_VALUES = 1_000_000
MISSING: Any = object()


class Spot(NamedTuple):
    """The place of one entry."""

    # The keys of the maps around it.
    path: tuple[str, ...]
    name: str
    # The container is a list, whose items have their name under this key.
    key: str = ""

    @property
    def container(self) -> Spot:
        """The place of what holds the entry."""
        return Spot(self.path[:-1], self.path[-1])


def entry_at(document: Any, spot: Spot) -> Any:
    """The entry, or MISSING."""
    holder = _holder(document, spot)
    if isinstance(holder, dict) and not spot.key:
        return holder.get(spot.name, MISSING)
    if isinstance(holder, list) and spot.key:
        matches = (item for item in holder if _name_of(item, spot) == spot.name)
        return next(matches, MISSING)
    return MISSING


def without(document: Any, spot: Spot) -> Any:
    """A copy that lacks the entry; the maps on the way to it are copied, nothing else."""
    if spot.path:
        key, inner = spot.path[0], spot._replace(path=spot.path[1:])
        if not isinstance(document, dict) or key not in document:
            return document
        return {**document, key: without(document[key], inner)}
    if spot.key:
        items = document if isinstance(document, list) else []
        return [item for item in items if _name_of(item, spot) != spot.name]
    return {key: value for key, value in document.items() if key != spot.name}


def same(one: Any, other: Any) -> bool:
    """Equal in everything that a reader could tell apart: the order of keys as well."""
    return repr(one) == repr(other)


def check_size(document: Any) -> None:
    """Raises ValueError for a document that aliases have made huge."""
    todo, count = [document], 0
    while todo:
        value = todo.pop()
        count += 1
        if count > MOST_VALUES:
            raise ValueError("has too many values")
        if isinstance(value, dict):
            todo += value.values()
        elif isinstance(value, list):
            todo += value


def _holder(document: Any, spot: Spot) -> Any:
    for key in spot.path:
        document = document.get(key) if isinstance(document, dict) else None
    return document


def _name_of(item: Any, spot: Spot) -> Any:
    return item.get(spot.key) if isinstance(item, dict) else None
