"""A change of bytes that can be taken back, and how text is quoted in all three formats. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import NamedTuple

BOM = b"\xef\xbb\xbf"
# Printable for JSON, but not for YAML or TOML.
_UNPRINTABLE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


class Splice(NamedTuple):
    """At this offset, `old` becomes `new`."""

    at: int
    old: bytes
    new: bytes


class Cut(NamedTuple):
    """The same in a text: the characters from start to end become `new`."""

    start: int
    end: int
    new: str = ""

    def applied(self, text: str) -> str:
        return text[: self.start] + self.new + text[self.end :]


def splice_of(cut: Cut, text: str, offset: int) -> Splice:
    """A cut as a change of bytes; `offset` is what precedes the text in its file."""
    at = offset + len(text[: cut.start].encode())
    return Splice(at, text[cut.start : cut.end].encode(), cut.new.encode())


def splices_between(before: bytes, after: bytes) -> tuple[Splice, ...]:
    """One that leads from the first to the second; none if they are the same."""
    if before == after:
        return ()
    start = _equal(before, after)
    end = _equal(before[start:][::-1], after[start:][::-1])
    return (Splice(start, before[start : len(before) - end], after[start : len(after) - end]),)


def _equal(one: bytes, other: bytes) -> int:
    """How many bytes at the beginning are the same, by halves: files can be huge."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def undone(data: bytes, splices: Iterable[Splice]) -> bytes:
    """The bytes before the splices. Raises ValueError if these are not the bytes after them."""
    for splice in reversed(tuple(splices)):
        end = splice.at + len(splice.new)
        if data[splice.at : end] != splice.new:
            raise ValueError("has changed since")
        data = data[: splice.at] + splice.old + data[end:]
    return data


def newline_of(text: str) -> str:
    """The line end that most lines of a text have."""
    windows = text.count("\r\n")
    return "\r\n" if windows > text.count("\n") - windows else "\n"


def quoted(text: str) -> str:
    """A JSON string that is a YAML and a TOML string as well. Raises ValueError."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("what is to be put into it is not Unicode text") from None
    escaped = json.dumps(text, ensure_ascii=False)
    return _UNPRINTABLE.sub(lambda match: f"\\u{ord(match[0]):04x}", escaped)
