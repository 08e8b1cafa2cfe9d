"""Items: what the registry files hold, one JSON object an entry, before it has a target."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

from toolyard.protocol.kinds import Kind
from toolyard.protocol.values import JsonObject

MANY = 500
# What an item must say to be one.
NEEDS: Mapping[Kind, tuple[str, ...]] = {
    "tools": ("name", "path"),
    "resources": ("name", "uri"),
    "templates": ("name", "uriTemplate"),
    "prompts": ("name", "path"),
}


def unique(
    items: Iterable[JsonObject], key: str, kind: str, warnings: list[str], root: str = ""
) -> list[JsonObject]:
    """The first of each name; the others are named in a warning, by their path below `root`."""
    items_by_key: dict[str, JsonObject] = {}
    for item in items:
        earlier = items_by_key.setdefault(item[key], item)
        if earlier is not item:
            path = item.get("path")
            place = os.path.join(root, path) if path else item[key]
            warnings.append(
                f"{place}: there is already a {kind} with the {key} "
                f"{item[key]!r} ({earlier.get('path') or 'registered'}); skipped"
            )
    return list(items_by_key.values())


def warn_if_many(kind: str, items: list[JsonObject], warnings: list[str]) -> None:
    if len(items) > MANY:
        warnings.append(f"{len(items)} {kind}: more than {MANY}; consider server.d/register.json")


def split(item: JsonObject, fields: frozenset[str]) -> tuple[JsonObject, JsonObject]:
    """What a client sees, the MCP fields only; and the rest."""
    visible: JsonObject = {}
    other_fields: JsonObject = {}
    for field, value in item.items():
        (visible if field in fields else other_fields)[field] = value
    return visible, other_fields
