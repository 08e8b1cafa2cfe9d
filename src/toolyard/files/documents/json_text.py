"""One entry in a JSON text, with comments or without. Pure.

An entry is put in as the first member, right behind the brace that opens its container and behind
a comment on that line: no other byte changes, so the commas and comments of the members that are
there already do not matter. A container on one line stays on one line.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, NamedTuple

from toolyard.files.comments import without_comments
from toolyard.files.documents.splices import Cut, newline_of, quoted
from toolyard.files.documents.spots import Spot
from toolyard.files.exact import loads
from toolyard.files.members import Member, end_of, members, past_blanks
from toolyard.files.objects import DECODER, where_and_what

_UNIT = "  "
# What may stand between a brace and the end of its line.
_REST_OF_LINE = re.compile(r"[ \t]*(?:/\*(?:(?!\*/)[^\r\n])*\*/[ \t]*)*(?://[^\r\n]*)?(?=\r?\n)")
_LONE_COMMA = re.compile(r'"(?:\\.|[^"\\])*"|(?P<lone>[{\[]\s*,)')
_LONE_RETURN = re.compile(r"\r(?!\n)")


@dataclass(frozen=True, slots=True)
class JsonText:
    """JSON as one kind of program reads it."""

    comments: bool = False
    trailing_commas: bool = False
    bom: bool = False
    seed: str = "{\n}\n"

    def parse(self, text: str) -> Any:
        """Raises ValueError that says what is wrong, with line and column."""
        return loads_plain(self._plain(text))

    def added(self, text: str, spot: Spot, entry: Any) -> tuple[Cut, ...]:
        """Raises ValueError."""
        plain = self._plain(text)
        opening = _opening(plain)
        for depth, key in enumerate(spot.path):
            member = _single(plain, opening, key)
            if member is None:
                return (_insertion(text, plain, opening, key, _wrapped(spot, depth, entry)),)
            opening = member.value
            last = depth == len(spot.path) - 1
            _expect(plain, opening, "[" if last and spot.key else "{", spot.path[: depth + 1])
        return (_insertion(text, plain, opening, None if spot.key else spot.name, entry),)

    def removed(self, text: str, spot: Spot) -> str:
        """The text without the entry, the lines it has to itself and one comma."""
        plain = self._plain(text)
        opening = _opening(plain)
        for key in spot.path:
            member = _single(plain, opening, key)
            if member is None:
                return text
            opening = member.value
        return _without(text, plain, opening, spot)

    def _plain(self, text: str) -> str:
        """JSON with every value where it stands; raises ValueError where this reader would fail."""
        try:
            loads(text)
            return text
        except (ValueError, RecursionError):
            plain = self._without_comments(text)
        try:
            loads_plain(plain)
        except ValueError as error:
            raise ValueError(self._why(text, error)) from None
        return plain

    def _without_comments(self, text: str) -> str:
        if not self.comments or _LONE_RETURN.search(text):
            return text
        plain = without_comments(text, trailing_commas=False)
        if not self.trailing_commas:
            return plain
        if any(match["lone"] for match in _LONE_COMMA.finditer(plain)):
            raise ValueError("is not JSON: there is a comma with nothing before it")
        return without_comments(text)

    def _why(self, text: str, error: ValueError) -> str:
        try:
            loads_plain(without_comments(text))
        except ValueError:
            return f"is not JSON: {error}"
        allowed = "trailing commas" if self.comments else "comments or trailing commas"
        return f"has {allowed}, which this program cannot read ({error})"


def loads_plain(plain: str) -> Any:
    try:
        return DECODER.decode(plain)
    except json.JSONDecodeError as error:
        raise ValueError(where_and_what(error)) from None
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _opening(plain: str) -> int:
    opening = past_blanks(plain, 0)
    if plain[opening : opening + 1] != "{":
        raise ValueError("must hold a JSON object")
    return opening


def _expect(plain: str, at: int, mark: str, path: tuple[str, ...]) -> None:
    if plain[at] != mark:
        kind = "a list" if mark == "[" else "an object"
        raise ValueError(f"has {'.'.join(path)}, which is not {kind}")


def _single(plain: str, opening: int, key: str) -> Member | None:
    """The member with that key. Raises ValueError if there are several: readers disagree."""
    matches = [member for member in members(plain, opening) if member.key == key]
    if len(matches) > 1:
        raise ValueError(f"has {quoted(key)} twice in the same object")
    return matches[0] if matches else None


def _wrapped(spot: Spot, depth: int, entry: Any) -> Any:
    """The entry in the containers below that depth, which are not there yet."""
    value: Any = [entry] if spot.key else {spot.name: entry}
    for key in reversed(spot.path[depth + 1 :]):
        value = {key: value}
    return value


class _Layout(NamedTuple):
    """How what is put in must look."""

    newline: str
    indent: str
    unit: str


def _insertion(text: str, plain: str, opening: int, key: str | None, value: Any) -> Cut:
    first = next(members(plain, opening), None)
    if first is not None and key is not None:
        _single(plain, opening, key)
    rest = _REST_OF_LINE.match(text, opening + 1)
    if rest is None:
        return _on_the_line(text, opening + 1, first, _written(key, value))
    layout = _layout(text, plain, opening, first)
    lines = _written(key, value, layout.unit).split("\n")
    body = "".join(f"{layout.newline}{layout.indent}{line}" for line in lines)
    at = rest.end()
    return Cut(at, at, f"{body}{',' if first is not None else ''}")


def _on_the_line(text: str, at: int, first: Member | None, written: str) -> Cut:
    blank = " " if text[at : at + 1] == " " else ""
    after = "" if first is None else "," if blank else ", "
    return Cut(at, at, f"{blank}{written}{after}")


def _written(key: str | None, value: Any, unit: str | None = None) -> str:
    text = json.dumps(value, indent=unit, ensure_ascii=False)
    return text if key is None else f"{quoted(key)}: {text}"


def _layout(text: str, plain: str, opening: int, first: Member | None) -> _Layout:
    """As the first sibling is written; else one step deeper than the container's own line."""
    newline, outer = newline_of(text), _indent(text, opening)
    sibling = _own_indent(text, first)
    if sibling is not None and sibling.startswith(outer) and sibling != outer:
        return _Layout(newline, sibling, sibling[len(outer) :])
    top = _own_indent(text, next(members(plain, _opening(plain)), None)) or _UNIT
    return _Layout(newline, outer + top if sibling is None else sibling, top)


def _indent(text: str, at: int) -> str:
    """The blanks that the line of this character begins with."""
    start = text.rfind("\n", 0, at) + 1
    line = text[start:at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _own_indent(text: str, member: Member | None) -> str | None:
    """The indentation of a member that is the first on its line."""
    if member is None:
        return None
    before = text[text.rfind("\n", 0, member.start) + 1 : member.start]
    return before if not before.strip(" \t") else None


def _without(text: str, plain: str, opening: int, spot: Spot) -> str:
    siblings = list(members(plain, opening))
    index = _index(plain, siblings, spot)
    if index is None:
        return text
    member = siblings[index]
    with_commas = without_comments(text, trailing_commas=False)
    start, end = member.start, end_of(plain, member.value)
    after = past_blanks(with_commas, end)
    comma = None
    if with_commas[after] == ",":
        if not text[end:after].strip():
            end = after + 1
        else:
            comma = after
    elif index:
        comma = past_blanks(with_commas, end_of(plain, siblings[index - 1].value))
    start, end = _whole_lines(text, start, end)
    cuts = [Cut(start, end)] + ([Cut(comma, comma + 1)] if comma is not None else [])
    for cut in sorted(cuts, reverse=True):
        text = cut.applied(text)
    return text


def _index(plain: str, siblings: list[Member], spot: Spot) -> int | None:
    for index, member in enumerate(siblings):
        if not spot.key and member.key == spot.name:
            return index
        if spot.key:
            item = DECODER.raw_decode(plain, member.value)[0]
            if isinstance(item, dict) and item.get(spot.key) == spot.name:
                return index
    return None


def _whole_lines(text: str, start: int, end: int) -> tuple[int, int]:
    """Widened to whole lines where nothing else is on them; else without the blanks after it."""
    line = text.rfind("\n", 0, start) + 1
    rest = re.compile(r"[ \t]*\r?\n").match(text, end)
    if rest is not None and not text[line:start].strip(" \t"):
        return line, rest.end()
    blanks = re.compile(r"[ \t]*").match(text, end)
    return start, blanks.end() if blanks is not None and text[end - 1] == "," else end
