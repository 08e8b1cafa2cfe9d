"""The members of one JSON object, or the elements of one list, and where each stands. Pure.

Steps over values with the standard library's decoder: a container is looked through without
looking at what is inside of its members. Comments must have been blanked before.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from toolyard.files.objects import DECODER

_BLANK = re.compile(r"[ \t\n\r]*")


class Member(NamedTuple):
    """One member or element: a list has neither keys nor colons, so it starts at its value."""

    key: str
    start: int
    value: int


def members(text: str, opening: int) -> Iterator[Member]:
    """What is in the container that opens there. Raises ValueError, IndexError, RecursionError."""
    walks = {"{": _named, "[": _numbered}
    walk = walks.get(text[opening : opening + 1])
    return walk(text, opening) if walk is not None else iter(())


def end_of(text: str, value: int) -> int:
    """Where the value that begins there ends. Raises ValueError, RecursionError."""
    return int(DECODER.raw_decode(text, value)[1])


def past_blanks(text: str, at: int) -> int:
    match = _BLANK.match(text, at)
    return match.end() if match else at


def _named(text: str, opening: int) -> Iterator[Member]:
    at = past_blanks(text, opening + 1)
    while text[at] != "}":
        key, end = DECODER.raw_decode(text, at)
        value = past_blanks(text, past_blanks(text, end) + 1)  # past the colon
        yield Member(key, at, value)
        at = _after(text, value)


def _numbered(text: str, opening: int) -> Iterator[Member]:
    at, number = past_blanks(text, opening + 1), 0
    while text[at] != "]":
        yield Member(str(number), at, at)
        at, number = _after(text, at), number + 1


def _after(text: str, value: int) -> int:
    """Past a value and its comma."""
    at = past_blanks(text, end_of(text, value))
    return past_blanks(text, at + 1) if text[at] == "," else at
