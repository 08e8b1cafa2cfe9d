"""The named functions and @formats of jq that scripts use most, as two tables."""

from __future__ import annotations

import base64
import html
import itertools
import json
from collections.abc import Callable, Iterator
from typing import Any

from . import filters
from .filters import Filter, Variables
from .values import FilterError, is_true, kind, number, order, shown, text

UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~")


def length(value: Any) -> Any:
    if value is None:
        return 0
    if kind(value) == "boolean":
        raise FilterError(f"{shown(value)} has no length")
    return abs(value) if kind(value) == "number" else len(value)


def keys(value: Any) -> Any:
    if isinstance(value, dict):
        return sorted(value)
    return list(range(len(array(value))))


def array(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise FilterError(f"{shown(value)} is not an array")
    return value


def string(value: Any) -> str:
    if not isinstance(value, str):
        raise FilterError(f"{shown(value)} is not a string")
    return value


def to_string(value: Any) -> str:
    return value if isinstance(value, str) else text(value)


def to_number(value: Any) -> Any:
    if kind(value) == "number":
        return value
    try:
        return number(float(value)) if "." in value or "e" in value.lower() else int(value)
    except (TypeError, ValueError, AttributeError):
        raise FilterError(f"{shown(value)} is not a number") from None


def from_json(value: Any) -> Any:
    try:
        return json.loads(string(value))
    except ValueError as problem:
        raise FilterError(f"{shown(value)} is not JSON: {problem}") from None


def total(value: Any) -> Any:
    result: Any = None
    for member in filters.members(value):
        result = filters.add(result, member)
    return result


def unique(value: Any) -> list[Any]:
    return [next(group) for _, group in itertools.groupby(sorted(array(value), key=order), order)]


def to_entries(value: Any) -> list[Any]:
    if not isinstance(value, dict):
        raise FilterError(f"{shown(value)} is not an object")
    return [{"key": key, "value": member} for key, member in value.items()]


def from_entries(value: Any) -> dict[str, Any]:
    return {
        to_string(item.get("key", item.get("name"))): item.get("value") for item in array(value)
    }


def row(value: Any, quoted: Callable[[str], str], separator: str) -> str:
    cells = (quoted(cell) if isinstance(cell, str) else cell for cell in array(value))
    return separator.join(
        cell if isinstance(cell, str) else "" if cell is None else text(cell) for cell in cells
    )


def tsv_cell(cell: str) -> str:
    return cell.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r")


def shell_word(value: Any) -> str:
    if isinstance(value, list):
        return " ".join(map(shell_word, value))
    return "'" + value.replace("'", "'\\''") + "'" if isinstance(value, str) else text(value)


def percent_encoded(value: Any) -> str:
    raw = to_string(value).encode()
    return "".join(chr(byte) if byte in UNRESERVED else f"%{byte:02X}" for byte in raw)


FORMATS: dict[str, Callable[[Any], str]] = {
    "@text": to_string,
    "@json": text,
    "@csv": lambda value: row(value, lambda cell: '"' + cell.replace('"', '""') + '"', ","),
    "@tsv": lambda value: row(value, tsv_cell, "\t"),
    "@html": lambda value: html.escape(to_string(value)).replace("&#x27;", "&#39;"),
    "@uri": percent_encoded,
    "@sh": shell_word,
    "@base64": lambda value: base64.b64encode(to_string(value).encode()).decode(),
    "@base64d": lambda value: base64.b64decode(string(value) + "==").decode("utf-8", "replace"),
}

# One value in, one value out.
PLAIN: dict[str, Callable[[Any], Any]] = {
    "add": total,
    "all": lambda value: all(map(is_true, array(value))),
    "any": lambda value: any(map(is_true, array(value))),
    "ascii_downcase": lambda value: string(value).lower(),
    "ascii_upcase": lambda value: string(value).upper(),
    "first": lambda value: filters.entry(value, 0),
    "floor": lambda value: int(value // 1),
    "from_entries": from_entries,
    "fromjson": from_json,
    "keys": keys,
    "keys_unsorted": lambda value: list(value) if isinstance(value, dict) else keys(value),
    "last": lambda value: filters.entry(value, -1),
    "length": length,
    "max": lambda value: max(array(value), key=order, default=None),
    "min": lambda value: min(array(value), key=order, default=None),
    "not": lambda value: not is_true(value),
    "reverse": lambda value: value[::-1] if value else [],
    "sort": lambda value: sorted(array(value), key=order),
    "to_entries": to_entries,
    "tojson": text,
    "tonumber": to_number,
    "tostring": to_string,
    "type": kind,
    "unique": unique,
    "utf8bytelength": lambda value: len(string(value).encode()),
}


def plain(function: Callable[[Any], Any]) -> Filter:
    return lambda value, variables: iter((function(value),))


def _with(function: Callable[[Any, Any], Any]) -> Callable[[Filter], Filter]:
    """A function of the value and of each result of its argument."""
    return lambda argument: (
        lambda value, variables: (function(value, result) for result in argument(value, variables))
    )


def _by(function: Callable[[list[Any], Callable[[Any], Any]], Any]) -> Callable[[Filter], Filter]:
    """A function of an array and of a key computed by its argument."""
    return lambda argument: (
        lambda value, variables: iter(
            (
                function(
                    array(value), lambda item: [order(key) for key in argument(item, variables)]
                ),
            )
        )
    )


def _unique_by(items: list[Any], key: Callable[[Any], Any]) -> list[Any]:
    return [next(group) for _, group in itertools.groupby(sorted(items, key=key), key)]


def _group_by(items: list[Any], key: Callable[[Any], Any]) -> list[Any]:
    return [[*group] for _, group in itertools.groupby(sorted(items, key=key), key)]


def _has(value: Any, key: Any) -> bool:
    if isinstance(value, dict) and isinstance(key, str):
        return key in value
    if isinstance(value, list) and kind(key) == "number":
        return int(key) in range(len(value))
    raise FilterError(f"cannot check whether {kind(value)} has {shown(key)}")


def _contains(value: Any, part: Any) -> bool:
    if isinstance(value, dict) and isinstance(part, dict):
        return all(key in value and _contains(value[key], part[key]) for key in part)
    if isinstance(value, list) and isinstance(part, list):
        return all(any(_contains(item, element) for item in value) for element in part)
    if isinstance(value, str) and isinstance(part, str):
        return part in value
    return order(value) == order(part)


def _join(value: Any, separator: Any) -> str:
    return string(separator).join("" if item is None else to_string(item) for item in array(value))


def _select(test: Filter) -> Filter:
    return lambda value, variables: (value for answer in test(value, variables) if is_true(answer))


def _fail(message: Filter) -> Filter:
    def fail(value: Any, variables: Variables) -> Iterator[Any]:
        raise FilterError(to_string(next(message(value, variables), None)))

    return fail


def _range(limit: Filter) -> Filter:
    return lambda value, variables: (
        item for end in limit(value, variables) for item in range(int(end))
    )


# Functions of one argument, by name.
WITH_ARGUMENT: dict[str, Callable[[Filter], Filter]] = {
    "all": lambda test: filters.pipe(mapped(test), plain(PLAIN["all"])),
    "any": lambda test: filters.pipe(mapped(test), plain(PLAIN["any"])),
    "contains": _with(_contains),
    "endswith": _with(lambda value, end: string(value).endswith(string(end))),
    "error": _fail,
    "first": lambda inner: lambda value, variables: itertools.islice(inner(value, variables), 1),
    "group_by": _by(_group_by),
    "has": _with(_has),
    "join": _with(_join),
    "ltrimstr": _with(lambda value, start: _trimmed(value, start, str.removeprefix)),
    "map": lambda inner: mapped(inner),
    "max_by": _by(lambda items, key: max(items, key=key, default=None)),
    "min_by": _by(lambda items, key: min(items, key=key, default=None)),
    "range": _range,
    "rtrimstr": _with(lambda value, end: _trimmed(value, end, str.removesuffix)),
    "select": _select,
    "sort_by": _by(lambda items, key: sorted(items, key=key)),
    "split": _with(filters.divide),
    "startswith": _with(lambda value, start: string(value).startswith(string(start))),
    "unique_by": _by(_unique_by),
    "with_entries": lambda inner: filters.pipe(
        filters.pipe(plain(to_entries), mapped(inner)), plain(from_entries)
    ),
}

NULLARY: dict[str, Filter] = {
    "empty": lambda value, variables: iter(()),
    "error": _fail(filters.identity),
    "values": _select(lambda value, variables: iter((value is not None,))),
    "recurse": filters.descend,
}


def mapped(inner: Filter) -> Filter:
    return filters.collect(filters.pipe(filters.iterate(filters.identity), inner))


def _trimmed(value: Any, part: Any, trim: Callable[[str, str], str]) -> Any:
    return trim(value, part) if isinstance(value, str) and isinstance(part, str) else value
