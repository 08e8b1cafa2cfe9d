"""Heads of HTTP messages that are sent again and again, and need no parser any more.

On one connection they differ in nothing, or in the digits of Content-Length alone. What such
a head means was found out by a parser, once.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_MOST_BYTES = 8192
_MOST_DIGITS = 9
_LENGTH = re.compile(rb"\r\ncontent-length:[ \t]*([0-9]{1,9})\r\n", re.IGNORECASE)
_END = b"\r\n\r\n"
# What makes more of a body than what follows the head.
_SPECIAL = frozenset({"transfer-encoding", "expect", "upgrade"})


class Whole(NamedTuple):
    """A message that arrived in one piece."""

    length: bytes  # as Content-Length says it
    body: bytes


class KnownHead(NamedTuple):
    """Up to the digits of Content-Length, and from there on."""

    before: bytes
    after: bytes

    def whole(self, data: bytes) -> Whole | None:
        """None where the data is not this head and its body, no more and no less."""
        before, after = self
        if not data.startswith(before):
            return None
        start = len(before)
        end = data.find(after, start, start + _MOST_DIGITS + len(after))
        if end < 0:
            return None
        digits, body = data[start:end], data[end + len(after) :]
        return Whole(digits, body) if digits.isdigit() and int(digits) == len(body) else None


def learned(data: bytes, names: list[str]) -> KnownHead | None:
    """From data that a parser took for one message with headers of these names."""
    if names.count("content-length") != 1 or not _SPECIAL.isdisjoint(names):
        return None
    end = data.find(_END, 0, _MOST_BYTES) + len(_END)
    lengths = list(_LENGTH.finditer(data, 0, end))
    if len(lengths) != 1:
        return None
    start, stop = lengths[0].span(1)
    head = KnownHead(data[:start], data[stop:end])
    return head if head.whole(data) is not None else None
