"""What the head of a request says: its headers by name; and heads that a client repeats."""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple
from urllib.parse import unquote

import httptools

from toolyard.http.headers import Header
from toolyard.http.known_heads import Begun, KnownHead, Whole, learned

MOST_KNOWN = 4
_NONE: frozenset[str] = frozenset()


@dataclass(slots=True)
class Head:
    """The head of a request; one object for all requests of a connection that repeat it."""

    method: str
    path: str  # decoded
    query: bytes
    version: str
    raw: list[Header]  # as they came, with their names in lower case
    headers: dict[str, str]  # by their names in lower case
    duplicates: frozenset[str] = _NONE  # names that came more than once
    # What the server's responder made of it; kept, since the same head leads to the same route.
    route: Any = None
    # What of its last request is not checked again, since the next one often says the same.
    checked: Any = None


def read_head(method: str, url: bytes, version: str, raw: list[Header]) -> Head:
    path, query = _split(url)
    headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in raw}
    return Head(method, path, query, version, raw, headers, _duplicates(raw, len(headers)))


def _duplicates(raw: list[Header], names: int) -> frozenset[str]:
    if names == len(raw):
        return _NONE
    counts = Counter(name.decode("latin-1") for name, _ in raw)
    return frozenset(name for name, count in counts.items() if count > 1)


@lru_cache(maxsize=64)
def _split(url: bytes) -> tuple[str, bytes]:
    """The path decoded, and the query."""
    parts = httptools.parse_url(url)
    path = (parts.path or b"/").decode("latin-1")
    return unquote(path) if "%" in path else path, parts.query or b""


class _Last(NamedTuple):
    """The last head, byte for byte: most clients also repeat the length of the body."""

    data: bytes
    size: int  # of the whole request
    head: Head


class Repeated:
    """The last heads of a connection, as bytes and with what they mean."""

    def __init__(self) -> None:
        self._heads: deque[tuple[KnownHead, Head]] = deque(maxlen=MOST_KNOWN)
        self._last: _Last | None = None

    def learn(self, data: bytes, head: Head) -> None:
        pattern = learned(data, [name.decode("latin-1") for name, _ in head.raw])
        whole = pattern.whole(data) if pattern is not None else None
        if pattern is not None and whole is not None:
            self._heads.appendleft((pattern, head))
            self._remember(data, whole, head)

    def request_in(self, data: bytes) -> tuple[Head, bytes] | None:
        """The head and the body, if this is one whole request with a known head."""
        if self._last is not None:
            begin, size, head = self._last
            if len(data) == size and data.startswith(begin):
                return head, data[len(begin) :]
        for pattern, head in self._heads:
            whole = pattern.whole(data)
            if whole is not None:
                head = _with_length(head, whole.length)
                self._remember(data, whole, head)
                return head, whole.body
        return None

    def begun_in(self, data: bytes) -> tuple[Head, Begun] | None:
        """The same for one of whose body more is to come."""
        for pattern, head in self._heads:
            begun = pattern.begun(data)
            if begun is not None:
                return _with_length(head, begun.length), begun
        return None

    def _remember(self, data: bytes, whole: Whole, head: Head) -> None:
        self._last = _Last(data[: len(data) - len(whole.body)], len(data), head)


def _with_length(head: Head, length: bytes) -> Head:
    text = length.decode("latin-1")
    if head.headers["content-length"] == text:
        return head
    raw = [(name, length if name == b"content-length" else value) for name, value in head.raw]
    return replace(head, raw=raw, headers={**head.headers, "content-length": text})
