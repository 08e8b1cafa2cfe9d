"""Items: what the registry files hold, one JSON object an entry, before it has a target."""

from __future__ import annotations

from collections.abc import Iterable

from toolyard.protocol.values import JsonObject

MANY = 500


def unique(
    items: Iterable[JsonObject], key: str, kind: str, warnings: list[str]
) -> list[JsonObject]:
    """The first of each name; the others are named in a warning."""
    kept: dict[str, JsonObject] = {}
    for item in items:
        first = kept.setdefault(item[key], item)
        if first is not item:
            warnings.append(
                f"{item.get('path') or item[key]}: there is already a {kind} with the {key} "
                f"{item[key]!r} ({first.get('path') or 'registered'}); skipped"
            )
    return list(kept.values())


def warn_if_many(kind: str, items: list[JsonObject], warnings: list[str]) -> None:
    if len(items) > MANY:
        warnings.append(f"{len(items)} {kind}: more than {MANY}; consider server.d/register.json")


def split(item: JsonObject, fields: frozenset[str]) -> tuple[JsonObject, JsonObject]:
    """What a client sees, the MCP fields only; and the rest."""
    visible: JsonObject = {}
    rest: JsonObject = {}
    for field, value in item.items():
        (visible if field in fields else rest)[field] = value
    return visible, rest
