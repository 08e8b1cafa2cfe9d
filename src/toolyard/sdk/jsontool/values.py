"""How jq sees JSON values: their kinds, their order, their truth. Knows no filters."""

from __future__ import annotations

import json
import re
from typing import Any

_KINDS = (
    (type(None), "null"),
    (bool, "boolean"),
    (int, "number"),
    (float, "number"),
    (str, "string"),
    (list, "array"),
    (dict, "object"),
)
_RANKS = ("null", "false", "true", "number", "string", "array", "object")
_SURROGATE = re.compile("[\ud800-\udfff]")


class FilterError(Exception):
    """A filter that met a value it cannot work on."""


class UnknownFilterError(Exception):
    """A filter that is not jq, or that this tool does not know."""


def kind(value: Any) -> str:
    return next(name for python, name in _KINDS if isinstance(value, python))


def is_true(value: Any) -> bool:
    return value is not None and value is not False


def shown(value: Any) -> str:
    return f"{kind(value)} ({text(value)[:60]})"


def text(value: Any, *, indent: int | None = None, sort: bool = False) -> str:
    """The value as JSON; without an indent, on one line without blanks."""
    separators = (",", ":") if indent is None else (",", ": ")
    json_text = json.dumps(
        value, ensure_ascii=False, separators=separators, indent=indent, sort_keys=sort
    )
    return _SURROGATE.sub("\ufffd", json_text)


def order(value: Any) -> tuple[Any, ...]:
    """A key by which values of all kinds can be sorted, as jq sorts them."""
    name = kind(value)
    if name == "boolean":
        return (_RANKS.index("true" if value else "false"),)
    rank = _RANKS.index(name)
    if name == "array":
        return (rank, [order(item) for item in value])
    if name == "object":
        keys = sorted(value)
        return (rank, keys, [order(value[key]) for key in keys])
    return (rank, value) if value is not None else (rank,)


def number(value: float) -> float:
    """2.0 is 2."""
    return int(value) if isinstance(value, float) and value.is_integer() else value
