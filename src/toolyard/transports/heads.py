"""What the head of a request says: its headers by name; and heads that a client repeats."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from typing import Any, TypeAlias

from toolyard.asgi import Header
from toolyard.net.heads import KnownHead, learned

# Beside ASGI's own keys: the headers by name, and which of them came more than once.
NAMED = "toolyard.headers"
MOST_KNOWN = 4
Named: TypeAlias = tuple[dict[str, str], frozenset[str]]
_NONE: frozenset[str] = frozenset()


def read_headers(raw: Sequence[Header]) -> Named:
    headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in raw}
    if len(headers) == len(raw):
        return headers, _NONE
    counted = Counter(name.decode("latin-1") for name, _ in raw)
    return headers, frozenset(name for name, count in counted.items() if count > 1)


class Repeated:
    """The last heads of a connection, each with the scope that was made of it."""

    def __init__(self) -> None:
        self._known: deque[tuple[KnownHead, dict[str, Any]]] = deque(maxlen=MOST_KNOWN)

    def learn(self, data: bytes, scope: dict[str, Any]) -> None:
        names = [name.decode("latin-1") for name, _ in scope["headers"]]
        head = learned(data, names)
        if head is not None:
            self._known.appendleft((head, {**scope}))

    def request_in(self, data: bytes) -> tuple[dict[str, Any], bytes] | None:
        """The scope and the body of a request that is here, whole, with a known head."""
        for head, scope in self._known:
            whole = head.whole(data)
            if whole is not None:
                return _with_length({**scope}, whole.length), whole.body
        return None


def _with_length(scope: dict[str, Any], length: bytes) -> dict[str, Any]:
    headers, repeated = scope[NAMED]
    text = length.decode("latin-1")
    if headers["content-length"] != text:
        scope["headers"] = [
            (name, length if name == b"content-length" else value)
            for name, value in scope["headers"]
        ]
        scope[NAMED] = {**headers, "content-length": text}, repeated
    return scope
