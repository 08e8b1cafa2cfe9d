"""Session ids. Where several processes serve the same, an id says whose it is, sealed.

A forged id is found out here: it costs no trip to another process or to a store.
"""

from __future__ import annotations

import base64
import hashlib
from typing import NamedTuple, Protocol

from toolyard.protocol.call import Caller
from toolyard.protocol.revisions import HANDSHAKE, Revision
from toolyard.store.seal import Seal, Unopened

_KEY, _CALLER, _OWNER = 24, 8, 6
_BOUND = b"session id"
_REVISIONS = tuple(HANDSHAKE)
_NO_REVISION = 255


class SessionIds(Protocol):
    def issue(self, key: str, caller: Caller, revision: Revision | None) -> str:
        """The id that a client is given; `key` is random, and the session's for good."""


class PlainIds:
    """For a process that is alone."""

    def issue(self, key: str, caller: Caller, revision: Revision | None) -> str:
        return key


class SessionTicket(NamedTuple):
    """What an id says."""

    key: str
    owner: str  # the process that opened the session
    revision: str  # empty: not known when it was opened


class SealedIds:
    def __init__(self, seal: Seal, owner: str) -> None:
        """`owner`: the name of this process, hexadecimal."""
        self._seal = seal
        self._owner = bytes.fromhex(owner)

    def issue(self, key: str, caller: Caller, revision: Revision | None) -> str:
        number = _NO_REVISION if revision is None else _REVISIONS.index(str(revision))
        parts = (_decoded(key), _digest(caller), self._owner, bytes([number]))
        return _encoded(self._seal.close(b"".join(parts), _BOUND))

    def open(self, session_id: str, caller: Caller) -> SessionTicket | None:
        """None if we did not make it, or made it for another caller."""
        try:
            plain = self._seal.open(_decoded(session_id), _BOUND)
        except (ValueError, Unopened):
            return None
        key, rest = plain[:_KEY], plain[_KEY:]
        if rest[:_CALLER] != _digest(caller):
            return None
        owner, number = rest[_CALLER : _CALLER + _OWNER], rest[-1]
        revision = "" if number == _NO_REVISION else _REVISIONS[number]
        return SessionTicket(_encoded(key), owner.hex(), revision)


def _digest(caller: Caller) -> bytes:
    return hashlib.sha256(caller.id.encode()).digest()[:_CALLER]


def _encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _decoded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text.encode("ascii") + b"=" * (-len(text) % 4))
