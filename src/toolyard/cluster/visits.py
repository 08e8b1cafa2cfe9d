"""A request that one process passes on to another, with who sent it: sealed, in a body of HTTP."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import orjson

from toolyard.protocol.call import Caller
from toolyard.store.keys import ClusterKeys
from toolyard.store.seal import Unopened

_LENGTH = 4


@dataclass(frozen=True, slots=True)
class Visit:
    service: str  # who in the other process is to answer
    method: str
    target: str  # path and query
    headers: Mapping[str, str]
    caller: Caller  # who was authenticated
    body: bytes = b""


class VisitSeal:
    """Neither who was authenticated nor what for can be changed on the way."""

    def __init__(self, keys: ClusterKeys) -> None:
        self._seal = keys.seal("visit")

    def close(self, visit: Visit) -> bytes:
        caller = visit.caller
        who = (caller.id, caller.name, dict(caller.claims))
        plain = orjson.dumps((visit.service, visit.method, visit.target, dict(visit.headers), who))
        sealed = self._seal.close(plain, visit.body)
        return b"".join((len(sealed).to_bytes(_LENGTH), sealed, visit.body))

    def open(self, data: bytes) -> Visit:
        """Raises Unopened."""
        end = _LENGTH + int.from_bytes(data[:_LENGTH])
        body = bytes(data[end:])
        if end > len(data):
            raise Unopened
        plain = self._seal.open(bytes(data[_LENGTH:end]), body)
        service, method, target, headers, who = orjson.loads(plain)
        return Visit(service, method, target, headers, Caller(*who), body)
