"""On which line of a JSON text a value stands, for the few values that somebody asks about. Pure.

Unlike `places`, which looks at every value, this steps over what nobody asks about with the
standard library's decoder: a mistake in a file of five thousand tools is found in milliseconds.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping

from toolyard.files.comments import without_comments
from toolyard.files.objects import DECODER
from toolyard.files.pointers import escape

_BLANK = re.compile(r"[ \t\n\r]*")


class PlacedLines:
    """Looks a container through once, when the first value in it is asked for."""

    def __init__(self, text: str) -> None:
        self._text = without_comments(text.removeprefix("\ufeff"))
        self._ends = [match.start() for match in re.finditer("\n", self._text)]
        self._inside: dict[str, Mapping[str, int]] = {}

    def line(self, pointer: str) -> int | None:
        """Of the value, or of what it should stand in; None where the text is one line."""
        if not self._ends:
            return None
        container, offset = "", self._skip(0)
        for part in pointer.split("/")[1:]:
            member = self._members(container, offset).get(part)
            if member is None:
                break
            container, offset = f"{container}/{part}", member
        return bisect_right(self._ends, offset - 1) + 1

    def _members(self, container: str, offset: int) -> Mapping[str, int]:
        """Where the members or elements of a container begin, as far as it is JSON."""
        if container not in self._inside:
            offsets: dict[str, int] = {}
            walks = {"{": self._named, "[": self._numbered}
            walk = walks.get(self._text[offset : offset + 1])
            try:
                offsets.update(() if walk is None else walk(offset))
            except (ValueError, IndexError, RecursionError):
                pass  # what was found is right; the rest has no line of its own
            self._inside[container] = offsets
        return self._inside[container]

    def _named(self, opening: int) -> Iterator[tuple[str, int]]:
        at = self._skip(opening + 1)
        while self._text[at] != "}":
            key, at = DECODER.raw_decode(self._text, at)
            value = self._skip(self._skip(at) + 1)  # past the colon
            yield escape(key), value
            at = self._after(value)

    def _numbered(self, opening: int) -> Iterator[tuple[str, int]]:
        at, number = self._skip(opening + 1), 0
        while self._text[at] != "]":
            yield str(number), at
            at, number = self._after(at), number + 1

    def _after(self, value: int) -> int:
        """Past a value and its comma."""
        at = self._skip(DECODER.raw_decode(self._text, value)[1])
        return self._skip(at + 1) if self._text[at] == "," else at

    def _skip(self, at: int) -> int:
        match = _BLANK.match(self._text, at)
        return match.end() if match else at
