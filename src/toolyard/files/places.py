"""Where each value is in a JSON text; comments and trailing commas allowed. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import NamedTuple

from toolyard.files.pointers import escape

DEEPEST = 200
_BLANK = re.compile(r"(?:[\s\ufeff]|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:\\.|[^"\\])*"', re.DOTALL)
_PLAIN = re.compile(r"[^\s,\]}/]+")


class Span(NamedTuple):
    start: int
    end: int


def places(text: str) -> Mapping[str, Span]:
    """JSON pointer -> where the value is. Raises ValueError if the text is not JSON."""
    spans: dict[str, Span] = {}
    end = _value(text, skip(text, 0), "", spans, 0)
    if skip(text, end) != len(text):
        raise ValueError(f"something follows the value, at character {end}")
    return spans


def line_of(text: str, offset: int) -> int:
    """Counted from 1."""
    return text.count("\n", 0, offset) + 1


def nearest(spans: Mapping[str, Span], pointer: str) -> Span | None:
    """Where the value is, or else what it should be in."""
    while pointer not in spans and pointer:
        pointer = pointer.rpartition("/")[0]
    return spans.get(pointer)


def skip(text: str, at: int) -> int:
    """Past blanks and comments."""
    match = _BLANK.match(text, at)
    return match.end() if match else at


def _value(text: str, at: int, pointer: str, spans: dict[str, Span], depth: int) -> int:
    if depth > DEEPEST:
        raise ValueError("is nested too deeply")
    mark = text[at : at + 1]
    if mark == "{":
        end = _members(text, at + 1, pointer, spans, depth)
    elif mark == "[":
        end = _elements(text, at + 1, pointer, spans, depth)
    else:
        end = _match(_STRING if mark == '"' else _PLAIN, text, at)
    spans[pointer] = Span(at, end)
    return end


def _members(text: str, at: int, pointer: str, spans: dict[str, Span], depth: int) -> int:
    at = skip(text, at)
    while text[at : at + 1] != "}":
        end = _match(_STRING, text, at)
        key = json.loads(text[at:end], strict=False)
        at = _expect(text, skip(text, end), ":")
        below = f"{pointer}/{escape(key)}"
        at = _next(text, _value(text, skip(text, at), below, spans, depth + 1), "}")
    return at + 1


def _elements(text: str, at: int, pointer: str, spans: dict[str, Span], depth: int) -> int:
    at, number = skip(text, at), 0
    while text[at : at + 1] != "]":
        at = _next(text, _value(text, at, f"{pointer}/{number}", spans, depth + 1), "]")
        number += 1
    return at + 1


def _next(text: str, at: int, closing: str) -> int:
    """Past the comma, at the next value; or at the end of what holds them."""
    at = skip(text, at)
    return at if text[at : at + 1] == closing else skip(text, _expect(text, at, ","))


def _match(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    if match is None:
        raise ValueError(f"line {line_of(text, at)}: no value here")
    return match.end()


def _expect(text: str, at: int, mark: str) -> int:
    if text[at : at + 1] != mark:
        raise ValueError(f"line {line_of(text, at)}: expected {mark!r}")
    return at + 1
