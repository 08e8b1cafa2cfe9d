"""A value small enough to keep: itself where it is small, else a shortened copy."""

from __future__ import annotations

from toolyard.protocol.call import Encoded, Json, JsonObject
from toolyard.protocol.verbatim import Verbatim

MOST_PARTS = 300
MOST_CHARACTERS = 16_384
_LONGEST_TEXT = 2_000
_LONGEST_LIST = 20
_FEW, _SHORT = 8, 500


def glimpse(value: Json) -> Json:
    if isinstance(value, dict) and _at_a_glance(value):
        return _without_text(value)
    if isinstance(value, Encoded):
        return f"({len(value.body)} bytes of JSON, encoded once for all clients)"
    return _without_text(value) if _counted(value) else _shortened(value, 6)


def _without_text(value: Json) -> Json:
    """The text that a result came in may be far longer than what is in it."""
    return {**value} if isinstance(value, Verbatim) else value


def is_small(value: Json) -> bool:
    """One glance is enough for most calls; the others cost no more than what would be kept."""
    return (isinstance(value, dict) and _at_a_glance(value)) or _counted(value)


def _at_a_glance(value: JsonObject) -> bool:
    """A few short members, or one more level of such. Every call passes here."""
    if len(value) > _FEW:
        return False
    for part in value.values():
        kind = type(part)
        if kind is dict:
            if not _few_and_short(part):
                return False
        elif kind is list:
            if not _few_objects(part):
                return False
        elif kind is str and len(part) > _SHORT:
            return False
    return True


def _few_objects(values: list[Json]) -> bool:
    if len(values) > _FEW:
        return False
    for value in values:  # noqa: SIM110 - a generator costs more than all the rest
        if type(value) is not dict or not _few_and_short(value):
            return False
    return True


def _few_and_short(value: JsonObject) -> bool:
    if len(value) > _FEW:
        return False
    for part in value.values():
        kind = type(part)
        if (kind is str and len(part) > _SHORT) or kind is dict or kind is list:
            return False
    return True


def _counted(value: Json) -> bool:
    parts = characters = 0
    todo = [value]
    while todo:
        part = todo.pop()
        parts += 1
        if isinstance(part, str):
            characters += len(part)
        elif isinstance(part, dict | list):
            if parts + len(part) > MOST_PARTS:
                return False
            todo.extend(part.values() if isinstance(part, dict) else part)
        if parts > MOST_PARTS or characters > MOST_CHARACTERS:
            return False
    return True


def _shortened(value: Json, depth: int) -> Json:
    if isinstance(value, str):
        cut = len(value) - _LONGEST_TEXT
        return value if cut <= 0 else f"{value[:_LONGEST_TEXT]}… ({cut} more characters)"
    if isinstance(value, dict) and depth:
        members = {
            _shortened(key, 0): _shortened(part, depth - 1)
            for key, part in _head(value.items(), _LONGEST_LIST)
        }
        return members | _rest(len(value))
    if isinstance(value, list) and depth:
        kept_items = [_shortened(part, depth - 1) for part in value[:_LONGEST_LIST]]
        more = len(value) - _LONGEST_LIST
        return kept_items + ([f"… ({more} more)"] if more > 0 else [])
    return "…" if isinstance(value, dict | list) else value


def _rest(count: int) -> dict[str, str]:
    return {"…": f"{count - _LONGEST_LIST} more members"} if count > _LONGEST_LIST else {}


def _head(pairs: Json, most: int) -> Json:
    return (pair for _, pair in zip(range(most), pairs, strict=False))
