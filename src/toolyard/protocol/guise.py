"""What a client looks like to a server: its era, and what it can do. Pure.

Clients with the same guise get the same listings, and share what can be shared.
"""

from __future__ import annotations

from typing import NamedTuple

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


def guise_of(revision: Revision, client: Client) -> Guise:
    if not client.capabilities:
        return PLAIN if revision.modern else PLAIN_HANDSHAKE
    key = client.key if client.key is not None else key_of(client.capabilities)
    return Guise(revision.modern, forwarded(client.capabilities), key)
