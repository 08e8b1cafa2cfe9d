"""What the head of a request says: its headers by name; and heads that a client repeats."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from toolyard.http.heads import KnownHead, learned
from toolyard.http.messages import Header

# Beside ASGI's own keys: the Head.
HEAD = "toolyard.head"
MOST_KNOWN = 4
_NONE: frozenset[str] = frozenset()


@dataclass(slots=True)
class Head:
    """What the head of a request says; one for all requests of a connection that repeat it."""

    headers: dict[str, str]  # by their names in lower case
    repeated: frozenset[str] = _NONE  # those that came more than once
    # What the app made of it: path, method and headers are the same the next time.
    route: Any = None


def read_head(raw: Sequence[Header]) -> Head:
    headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in raw}
    if len(headers) == len(raw):
        return Head(headers)
    counted = Counter(name.decode("latin-1") for name, _ in raw)
    return Head(headers, frozenset(name for name, count in counted.items() if count > 1))


class _Last(NamedTuple):
    """The last head to its very bytes: most clients repeat the length of the body as well."""

    head: bytes
    size: int  # of the whole request
    scope: dict[str, Any]


class Repeated:
    """The last heads of a connection, each with the scope that was made of it."""

    def __init__(self) -> None:
        self._known: deque[tuple[KnownHead, dict[str, Any]]] = deque(maxlen=MOST_KNOWN)
        self._last: _Last | None = None

    def learn(self, data: bytes, scope: dict[str, Any]) -> None:
        names = [name.decode("latin-1") for name, _ in scope["headers"]]
        head = learned(data, names)
        if head is not None:
            self._known.appendleft((head, {**scope}))

    def request_in(self, data: bytes) -> tuple[dict[str, Any], bytes] | None:
        """The scope and the body of a request that is here, whole, with a known head."""
        if self._last is not None:
            head, size, scope = self._last
            if len(data) == size and data.startswith(head):
                return {**scope}, data[len(head) :]
        for known, scope in self._known:
            whole = known.whole(data)
            if whole is not None:
                scope = _with_length({**scope}, whole.length)
                head = data[: len(data) - len(whole.body)]
                self._last = _Last(head, len(data), scope)
                return {**scope}, whole.body
        return None


def _with_length(scope: dict[str, Any], length: bytes) -> dict[str, Any]:
    head: Head = scope[HEAD]
    text = length.decode("latin-1")
    if head.headers["content-length"] != text:
        scope["headers"] = [
            (name, length if name == b"content-length" else value)
            for name, value in scope["headers"]
        ]
        scope[HEAD] = replace(head, headers={**head.headers, "content-length": text})
    return scope
