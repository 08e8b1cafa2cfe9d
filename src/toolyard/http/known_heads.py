"""Heads of HTTP messages that are sent again and again, and need no parser the next time.

On one connection they are the same, or differ only in the digits of Content-Length. A parser
has found out once what such a head means.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_MOST_BYTES = 8192
_MOST_DIGITS = 9
_LENGTH = re.compile(rb"\r\ncontent-length:[ \t]*([0-9]{1,9})\r\n", re.IGNORECASE)
_END = b"\r\n\r\n"
# With these the body is not simply what follows the head.
_SPECIAL = frozenset({"transfer-encoding", "expect", "upgrade"})


class Whole(NamedTuple):
    """A message that arrived in one piece."""

    length: bytes  # as Content-Length says it
    body: bytes


class Begun(NamedTuple):
    """A message with more to come."""

    length: bytes  # as Content-Length says it
    body: bytes  # what there is of it
    left: int


class KnownHead(NamedTuple):
    """A head as two pieces: up to the digits of Content-Length, and after them."""

    before: bytes
    after: bytes

    def whole(self, data: bytes) -> Whole | None:
        """The message; None if the data is not exactly this head with its body."""
        before, after = self
        if not data.startswith(before):
            return None
        start = len(before)
        end = data.find(after, start, start + _MOST_DIGITS + len(after))
        if end < 0:
            return None
        digits, body = data[start:end], data[end + len(after) :]
        return Whole(digits, body) if digits.isdigit() and int(digits) == len(body) else None

    def begun(self, data: bytes) -> Begun | None:
        """The message that begins here, if more of its body is to come."""
        before, after = self
        if not data.startswith(before):
            return None
        start = len(before)
        end = data.find(after, start, start + _MOST_DIGITS + len(after))
        digits, body = data[start:end], data[end + len(after) :]
        if end < 0 or not digits.isdigit() or int(digits) <= len(body):
            return None
        return Begun(digits, body, int(digits) - len(body))


def learned(data: bytes, names: list[str]) -> KnownHead | None:
    """A head to recognise, from data that a parser read as one message with these headers."""
    if names.count("content-length") != 1 or not _SPECIAL.isdisjoint(names):
        return None
    end = data.find(_END, 0, _MOST_BYTES) + len(_END)
    lengths = list(_LENGTH.finditer(data, 0, end))
    if len(lengths) != 1:
        return None
    start, stop = lengths[0].span(1)
    head = KnownHead(data[:start], data[stop:end])
    return head if head.whole(data) is not None else None
