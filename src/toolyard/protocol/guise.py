"""What a client looks like to a server: its era, and what it can do. Pure.

Clients with the same guise get the same listings, and share what can be shared.
"""

from __future__ import annotations

from typing import NamedTuple

import orjson

from toolyard.protocol.client import ASKED, Client, forwarded, key_of
from toolyard.protocol.revisions import Revision
from toolyard.protocol.values import JsonObject


class Guise(NamedTuple):
    """All that a server can tell of a client."""

    modern: bool
    capabilities: JsonObject  # as we may declare them on its behalf
    key: str  # the same for the same capabilities

    @property
    def can_be_asked(self) -> bool:
        return not ASKED.isdisjoint(self.capabilities)


# Clients without any capability that a server is told of.
PLAIN = Guise(True, {}, "")
PLAIN_HANDSHAKE = Guise(False, {}, "")


# A client of 2026-07-28 says with each request what it can do, in the same words: they are
# looked at once. Only what clients really say is remembered: short words, and few of them.
MOST_REMEMBERED, LONGEST_REMEMBERED = 256, 1024
_REMEMBERED: dict[tuple[bool, bytes], Guise] = {}


def guise_of(revision: Revision, client: Client) -> Guise:
    if not client.capabilities:
        return PLAIN if revision.modern else PLAIN_HANDSHAKE
    if client.key is not None:
        return Guise(revision.modern, forwarded(client.capabilities), client.key)
    try:
        words = revision.modern, orjson.dumps(client.capabilities)
    except TypeError:  # a number or a text that it cannot write
        return _made(revision.modern, client.capabilities)
    guise = _REMEMBERED.get(words)
    if guise is None:
        guise = _made(revision.modern, client.capabilities)
        if len(words[1]) <= LONGEST_REMEMBERED:
            if len(_REMEMBERED) >= MOST_REMEMBERED:
                _REMEMBERED.clear()
            _REMEMBERED[words] = guise
    return guise


def _made(modern: bool, capabilities: JsonObject) -> Guise:
    return Guise(modern, forwarded(capabilities), key_of(capabilities))
