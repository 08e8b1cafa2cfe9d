"""JSON text and values: exact integers, bounded depth. Knows no messages."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import accumulate
from math import isfinite

import orjson

from toolyard.errors import INVALID_REQUEST, PARSE_ERROR, ProtocolError
from toolyard.protocol.values import Json

MAX_DEPTH = 200
MAX_CONTAINERS = 1_000_000
# Encoding this many items takes about a millisecond.
PART = 500
# Fewer bytes cannot be nested deeper: each level opens and closes.
_SHALLOW = 2 * MAX_DEPTH
# From here on a look at the value may be cheaper than one at the text; up to so many parts it is.
_LONG_TEXT = 4096
_BYTES_A_PART = 64
# Nor can fewer bytes than these hold more containers.
_MANY = 2 * MAX_CONTAINERS
# So many are found one by one in less than a millisecond.
_FEW = 1000
_BOM = b"\xef\xbb\xbf"
_ONLY_DIGITS = bytes(48 if 48 <= byte <= 57 else 32 for byte in range(256))
_NEITHER_BRACKETS_NOR_QUOTES = bytes(byte for byte in range(256) if byte not in b'[]{}"')
_ONE_KIND = bytes.maketrans(b"{}", b"[]")
_STEPS = bytes.maketrans(b"[]", b"\x01\xff")  # one up, one down
# From 19 digits on a number may not fit 64 bits, where orjson would make it a float.
_LONG_NUMBER = b"0" * 19
_ENORMOUS_NUMBER = b"0" * 309


class TooDeep(ValueError):
    """JSON that is nested deeper than MAX_DEPTH levels."""


class TooMany(ValueError):
    """JSON with more than MAX_CONTAINERS objects and lists in it."""


def loads(data: bytes) -> Json:
    """The value of a message. Raises the ProtocolError that its sender gets."""
    try:
        return exact(data)
    except (TooDeep, TooMany) as error:
        raise ProtocolError(INVALID_REQUEST, str(error)) from None
    except ValueError as error:
        if data.startswith(_BOM) and not data.startswith(_BOM, len(_BOM)):
            return loads(data[len(_BOM) :])
        raise ProtocolError(PARSE_ERROR, "Parse error", str(error)) from None


def exact(data: bytes) -> Json:
    """Parse JSON text: exact integers, at most MAX_DEPTH levels. Raises ValueError."""
    size = len(data)
    if size > _MANY and _too_many(data):
        raise TooMany(f"More than {MAX_CONTAINERS:,} objects and lists")
    try:
        value = orjson.loads(data)
    except ValueError:
        # orjson also refuses integers that are too large for a float.
        if _ENORMOUS_NUMBER not in data.translate(_ONLY_DIGITS):
            raise
        value = _slowly(data)
    if size > _SHALLOW:
        if size > _LONG_TEXT and _is_plain(value, size // _BYTES_A_PART):
            return value
        if too_deep(data):
            raise TooDeep(f"Nested deeper than {MAX_DEPTH} levels")
    # Not `in`: with bytes that raises and drops an error first, and every message comes here.
    if data.translate(_ONLY_DIGITS).find(_LONG_NUMBER) >= 0:
        return json.loads(data)
    return value


def exact_part(data: bytes | bytearray, start: int, end: int) -> Json:
    """The same for a long part of some text. It is copied only if each byte must be looked at."""
    text, size = memoryview(data)[start:end], end - start
    if size > _MANY and not _has_few_brackets(data, start, end):
        return exact(bytes(text))
    try:
        value = orjson.loads(text)
    except ValueError:
        return exact(bytes(text))
    if _is_plain(value, size // _BYTES_A_PART):
        return value
    copy = bytes(text)
    if too_deep(copy):
        raise TooDeep(f"Nested deeper than {MAX_DEPTH} levels")
    return json.loads(copy) if _LONG_NUMBER in copy.translate(_ONLY_DIGITS) else value


def _is_plain(value: Json, most: int) -> bool:
    """Neither deep nor with a number that may not be exact, by a look at few parts?

    Large messages are mostly one long string: looking at what was read is cheaper than at every
    byte. An integer beyond 64 bits has become a float.
    """
    level = [value] if type(value) is dict or type(value) is list else []
    for _ in range(MAX_DEPTH):
        below: list[Json] = []
        for container in level:
            parts = container.values() if type(container) is dict else container
            most -= len(container)
            if most < 0:
                return False
            for part in parts:
                kind = type(part)
                if kind is dict or kind is list:
                    below.append(part)
                elif kind is float:
                    return False
        if not below:
            return True
        level = below
    return False


def _too_many(data: bytes) -> bool:
    """Each object takes up to 30 times the memory of its text."""
    if _has_few_brackets(data, 0, len(data)):
        return False
    if data.count(b"[") + data.count(b"{") <= MAX_CONTAINERS:
        return False
    own = _outside_strings(data)
    return own.count(b"[") + own.count(b"{") > MAX_CONTAINERS


def _has_few_brackets(data: bytes | bytearray, start: int, end: int) -> bool:
    """Can they be found one by one? Searching for the next is far faster than counting bytes."""
    for bracket in (b"[", b"{"):
        at = start - 1
        for _ in range(_FEW):
            at = data.find(bracket, at + 1, end)
            if at < 0:
                break
        else:
            return False
    return True


def _slowly(data: bytes) -> Json:
    decoder = json.JSONDecoder(parse_constant=_finite, parse_float=_finite)
    try:
        return decoder.decode(data.decode("utf-8"))
    except RecursionError:
        raise TooDeep(f"Nested deeper than {MAX_DEPTH} levels") from None


def half_pairs(data: bytes) -> Json | None:
    """The value of JSON text that orjson refuses for a lone surrogate; None if it is not JSON.

    In the value a question mark stands for each, as nothing but their own text can hold them.
    """
    if b"\\ud" not in data and b"\\uD" not in data:
        return None
    try:
        return exact(dumps(_slowly(data)))
    except ValueError:
        return None


def _finite(text: str) -> float:
    number = float(text)
    if isfinite(number):
        return number
    raise ValueError(f"{text[:20]} is not a number")


def too_deep(data: bytes) -> bool:
    """More than MAX_DEPTH levels in valid JSON text? Linear, and nearly all of it in C."""
    if data.count(b"[") + data.count(b"{") <= MAX_DEPTH:
        return False
    brackets = _outside_strings(data).translate(_ONE_KIND)
    # Remove whole levels while each is at least half of what is left, as in any real text.
    for levels in range(MAX_DEPTH):
        fewer = brackets.replace(b"[]", b"")
        if not fewer:
            return False
        if 2 * len(fewer) > len(brackets):
            return levels + max(accumulate(memoryview(brackets.translate(_STEPS)).cast("b"))) > (
                MAX_DEPTH
            )
        brackets = fewer
    return True


def _outside_strings(data: bytes) -> bytes:
    """The brackets outside of strings. Empty strings are removed first, which changes nothing."""
    if b"\\" in data:
        data = data.replace(b"\\\\", b"").replace(b'\\"', b"")
    brackets = data.translate(None, _NEITHER_BRACKETS_NOR_QUOTES).replace(b'""', b"")
    return b"".join(brackets.split(b'"')[::2]) if b'"' in brackets else brackets


def in_parts(items: Sequence[Json], option: int = 0) -> Iterator[bytes]:
    """JSON text of many items, some at a time, so that other threads run in between."""
    for start in range(0, len(items), PART):
        yield dumps(items[start : start + PART], option)[1:-1]


def dumps(value: Json, option: int = 0) -> bytes:
    """JSON text of any value; integers beyond 64 bits are encoded the slow way."""
    try:
        return orjson.dumps(value, option=option)
    except (TypeError, orjson.JSONEncodeError):
        sort = bool(option & orjson.OPT_SORT_KEYS)
        indent = 2 if option & orjson.OPT_INDENT_2 else None
        separators = (",", ": " if indent else ":")
        text = json.dumps(
            value, ensure_ascii=False, separators=separators, sort_keys=sort, indent=indent
        )
        return text.encode("utf-8", "replace")
