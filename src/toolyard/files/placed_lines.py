"""On which line of a JSON text a value stands, for the few values that somebody asks about. Pure.

Unlike `places`, which looks at every value, this steps over what nobody asks about with the
standard library's decoder: a mistake in a file of five thousand tools is found in milliseconds.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping

from toolyard.files.comments import without_comments
from toolyard.files.members import members, past_blanks
from toolyard.files.pointers import escape


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
        container, offset = "", past_blanks(self._text, 0)
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
            try:
                for member in members(self._text, offset):
                    offsets[escape(member.key)] = member.value
            except (ValueError, IndexError, RecursionError):
                pass  # what was found is right; the rest has no line of its own
            self._inside[container] = offsets
        return self._inside[container]
