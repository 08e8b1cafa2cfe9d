"""JSON text and values: exact integers, bounded depth. Knows no messages."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence

import orjson

from toolyard.errors import INVALID_REQUEST, PARSE_ERROR, ProtocolError
from toolyard.protocol.values import Json

MAX_DEPTH = 200
# To encode that many takes about a millisecond.
PART = 500
# Fewer bytes cannot be nested deeper: each level opens and closes.
_SHALLOW = 2 * MAX_DEPTH
_BOM = b"\xef\xbb\xbf"
_ONLY_DIGITS = bytes(48 if 48 <= byte <= 57 else 32 for byte in range(256))
_NOT_BRACKETS = bytes(byte for byte in range(256) if byte not in b"[]{}")
_INNERMOST = re.compile(rb"\[\]|\{\}")
# From 19 digits on a number may not fit 64 bits, where orjson would make it a float.
_LONG_NUMBER = b"0" * 19


def loads(data: bytes) -> Json:
    """Parse JSON text: exact integers, at most MAX_DEPTH levels."""
    try:
        value = orjson.loads(data)
        if _LONG_NUMBER in data.translate(_ONLY_DIGITS):
            value = json.loads(data)  # orjson was the stricter judge of what is JSON
    except (ValueError, RecursionError) as error:
        if data.startswith(_BOM) and not data.startswith(_BOM, len(_BOM)):
            return loads(data[len(_BOM) :])
        raise ProtocolError(PARSE_ERROR, "Parse error", _reason(error)) from None
    if len(data) > _SHALLOW and too_deep(data, value):
        raise ProtocolError(INVALID_REQUEST, f"Nested deeper than {MAX_DEPTH} levels")
    return value


def _reason(error: Exception) -> str:
    return str(error) if isinstance(error, ValueError) else "nested too deeply"


def too_deep(data: bytes, value: Json) -> bool:
    """More than MAX_DEPTH levels? Peels whole levels of brackets off in C first."""
    if data.count(b"[") + data.count(b"{") <= MAX_DEPTH:
        return False
    brackets = data.translate(None, _NOT_BRACKETS)
    for _ in range(MAX_DEPTH):
        fewer = _INNERMOST.sub(b"", brackets)
        if not fewer:
            return False
        if len(fewer) == len(brackets):
            break  # brackets inside strings: look at the value itself
        brackets = fewer
    return _deeper_than(value, MAX_DEPTH)


def _deeper_than(value: Json, limit: int) -> bool:
    level = [value]
    for _ in range(limit):
        level = [child for item in level for child in _children(item) if _is_container(child)]
        if not level:
            return False
    return True


def _children(item: Json) -> Iterable[Json]:
    return item.values() if isinstance(item, dict) else item


def _is_container(item: Json) -> bool:
    return isinstance(item, dict | list)


def in_parts(items: Sequence[Json], option: int = 0) -> Iterator[bytes]:
    """JSON text of many items, some at a time: other threads are let in between."""
    for start in range(0, len(items), PART):
        yield orjson.dumps(items[start : start + PART], option=option)[1:-1]


def dumps(value: Json, option: int = 0) -> bytes:
    """JSON text of any value; integers beyond 64 bits take the slow road."""
    try:
        return orjson.dumps(value, option=option)
    except (TypeError, orjson.JSONEncodeError):
        sort = bool(option & orjson.OPT_SORT_KEYS)
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=sort)
        return text.encode("utf-8", "replace")
