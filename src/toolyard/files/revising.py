"""A JSON text with other values in it: what stays equal stays as somebody wrote it. Pure.

Comments, order, line breaks and spelling are kept wherever the value beside them is kept. An
object is changed member by member; any other value that differs is written anew.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from toolyard.files.comments import parse
from toolyard.files.places import Span, places, skip
from toolyard.files.pointers import escape

WIDTH = 96
STEP = "  "


def revised(text: str, value: Any, indent: str = "") -> str:
    """The text of one value, changed to be this one. Raises ValueError if it is not JSON."""
    current = _parsed(text)
    if _same(current, value):
        return text
    if not (isinstance(current, dict) and isinstance(value, dict) and current):
        return written(value, indent)
    for key in [key for key in current if key not in value]:
        text = _without(text, key)
    for key, part in value.items():
        text = _with(text, key, part, indent)
    return text


def appended(text: str, value: Any, indent: str = "") -> str:
    """The text of a list, with one more element at its end."""
    elements = list(_parts(text))
    if not elements:
        below = indent + STEP
        return f"[\n{below}{written(value, below)}\n{indent}]"
    inside = _indent_at(text, elements[-1].start)
    return _inserted(text, elements[-1], written(value, inside or ""), inside)


def written(value: Any, indent: str = "") -> str:
    """On one line where it is short, else a line for each part."""
    flat = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, dict | list) or not value or len(indent) + len(flat) <= WIDTH:
        return flat
    inside = indent + STEP
    if isinstance(value, list):
        lines = [written(part, inside) for part in value]
        return "[\n" + ",\n".join(inside + line for line in lines) + f"\n{indent}]"
    lines = [f"{_key(key)}: {written(part, inside)}" for key, part in value.items()]
    return "{\n" + ",\n".join(inside + line for line in lines) + f"\n{indent}}}"


class _Part(NamedTuple):
    """A member or an element: where it begins, its key included, and where its value is."""

    start: int
    value: Span


def _parts(text: str) -> Iterator[_Part]:
    """The members or elements of the value, in the order of the text."""
    spans = places(text)
    inner = [span for pointer, span in spans.items() if pointer.count("/") == 1]
    at = spans[""].start + 1
    for span in sorted(inner):
        at = skip(text, at)
        yield _Part(at, span)
        after = skip(text, span.end)
        at = after + 1 if text[after : after + 1] == "," else after


def _with(text: str, key: str, value: Any, indent: str) -> str:
    span = places(text).get(f"/{escape(key)}")
    if span is None:
        return _with_new(text, key, value, indent)
    here = next(part for part in _parts(text) if part.value == span)
    inside = _indent_at(text, here.start)
    part = revised(text[span.start : span.end], value, indent if inside is None else inside)
    return text[: span.start] + part + text[span.end :]


def _with_new(text: str, key: str, value: Any, indent: str) -> str:
    members = list(_parts(text))
    if not members:
        return written({key: value}, indent)
    inside = _indent_at(text, members[-1].start)
    member = f"{_key(key)}: {written(value, indent if inside is None else inside)}"
    return _inserted(text, members[-1], member, inside)


def _inserted(text: str, last: _Part, part: str, inside: str | None) -> str:
    """After the last one; a comment at the end of its line stays with it."""
    end = last.value.end
    if inside is None:
        return f"{text[:end]}, {part}{text[end:]}"
    after = skip(text, end)
    comma = text[after : after + 1] == ","
    line_end = text.find("\n", after if comma else end)
    closing = places(text)[""].end - 1
    if line_end < 0 or line_end > closing:
        return f"{text[:end]},\n{inside}{part}{text[end:]}"
    tail = "," if comma else ""
    first = text[:end] if comma else f"{text[:end]},"
    return f"{first}{text[end:line_end]}\n{inside}{part}{tail}{text[line_end:]}"


def _without(text: str, key: str) -> str:
    """The member goes with its comma, and with its line where it has one to itself."""
    members = list(_parts(text))
    span = places(text)[f"/{escape(key)}"]
    number = next(n for n, part in enumerate(members) if part.value == span)
    start, end = members[number].start, span.end
    after = skip(text, end)
    if text[after : after + 1] == ",":
        return _cut(text, start, after + 1)
    if number == 0:
        return _cut(text, start, end)
    before = members[number - 1].value.end
    comma = skip(text, before)
    text = _cut(text, start, end)
    return text[:comma] + text[comma + 1 :]


def _cut(text: str, start: int, end: int) -> str:
    line_start = text.rfind("\n", 0, start) + 1
    line_end = text.find("\n", end)
    alone = not text[line_start:start].strip() and line_end >= 0
    if alone and not text[end:line_end].strip():
        return text[: max(line_start - 1, 0)] + text[line_end:]
    gap = len(text[end:]) - len(text[end:].lstrip(" "))
    before = text[:start].rstrip(" ") if text[end + gap : end + gap + 1] in "}]" else text[:start]
    return before + text[end + gap :]


def _indent_at(text: str, start: int) -> str | None:
    """The blanks before a part that begins its line; None where others are on the line too."""
    before = text[text.rfind("\n", 0, start) + 1 : start]
    return before if "\n" in text[:start] and not before.strip() else None


def _key(key: str) -> str:
    return json.dumps(key, ensure_ascii=False)


def _parsed(text: str) -> Any:
    return parse(text.encode("utf-8", "surrogateescape"))


def _same(one: Any, other: Any) -> bool:
    """Equal as JSON: true is not 1."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    return type(one) is type(other) and bool(one == other)
