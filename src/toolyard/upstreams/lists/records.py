"""What is known about the lists of one upstream, for each kind of client. Asks nobody.

An upstream may list something else to each caller that has a login of its own, in each era,
and to clients that can do different things. Clients that are alike in all of this share one
record.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from time import monotonic
from typing import NamedTuple

from toolyard.catalog.listing import Listing
from toolyard.protocol.call import JsonObject
from toolyard.protocol.client import ASKED
from toolyard.protocol.client import key_of as client_key
from toolyard.protocol.eras.headers import header_parameters
from toolyard.protocol.revisions import ALL
from toolyard.protocol.tasks.words import Support, support_in
from toolyard.upstreams.connections import ANYBODY, Downstream
from toolyard.upstreams.definition import Learnt, ServerDefinition
from toolyard.upstreams.lists.disk import RecordKeeper, UpstreamRecord

# Callers with a login of their own are counted as well.
MOST_LISTINGS = 256
MOST_KEPT = 8

Headers = Mapping[tuple[str, ...], str]


class Key(NamedTuple):
    """Clients that are the same in all of this are listed the same."""

    caller: str
    modern: bool
    client: str


@dataclass(eq=False, slots=True)
class ListingRecord:
    """What is known for one kind of client. Whoever asks the upstream holds the lock."""

    listing: Listing | None = None
    fresh: bool = False
    in_doubt: bool = False  # there was a sign that it may no longer hold
    old_at: float | None = None  # when it expires, by the server's own word
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


class Records:
    """The records of one upstream, the headers that its tools want, and what is kept on disk."""

    def __init__(
        self, definition: ServerDefinition, learnt: Learnt, memory: UpstreamRecord | None
    ) -> None:
        self._definition = definition
        self._learnt = learnt
        self._known: dict[Key, ListingRecord] = {}  # those used last come last
        self._headers: dict[tuple[str, str], Headers] = {}
        self._supports: dict[tuple[str, str], Support] = {}
        if memory is not None:
            self.load(memory)

    def load(self, memory: UpstreamRecord) -> None:
        """What was kept is believed until the server is used."""
        self.at(self.key(ANYBODY)).listing = memory.listing
        self._learn_supports("", memory.listing)
        for (modern, client), listing in memory.by_client.items():
            self.at(Key("", modern, client)).listing = listing
            self._learn_supports("", listing)

    def key(self, client: Downstream) -> Key:
        modern = self._learnt.speaks_modern(client.guise.modern)
        modern = client.guise.modern if modern is None else modern
        abilities = client.guise.key
        if not modern and abilities and self._definition.share == "always":
            able = client.guise.capabilities
            abilities = client_key({name: able[name] for name in able if name not in ASKED})
        return Key(self._definition.login_of(client.caller), modern, abilities)

    def at(self, key: Key) -> ListingRecord:
        """The record for such clients, made where there is none."""
        record = self._known.pop(key, None) or ListingRecord()
        self._known[key] = record
        while len(self._known) > MOST_LISTINGS:
            del self._known[next(iter(self._known))]
        return record

    def listing(self, client: Downstream) -> Listing | None:
        record = self._known.get(self.key(client))
        return record.listing if record is not None else None

    def in_doubt(self, client: Downstream) -> bool:
        record = self._known.get(self.key(client))
        return record is None or record.in_doubt

    # -- how long it holds -------------------------------------------------------------

    def note(self, record: ListingRecord, listing: Listing, caller: str) -> None:
        """This was listed just now."""
        record.listing, record.in_doubt = listing, not record.fresh
        record.old_at = None if listing.lasts is None else monotonic() + listing.lasts
        for tool in listing.tools:
            self._learn_headers(caller, tool)
        self._learn_supports(caller, listing)

    def stale(self, caller: str, client: str) -> bool:
        """It may list something else to clients of this kind: to all, if they are plain ones."""
        had_listing = False
        self._forget_headers(caller)
        for key, record in self._known.items():
            if key.caller == caller and client in ("", key.client):
                record.fresh, record.in_doubt = False, True
                had_listing = had_listing or record.listing is not None
        return had_listing

    def expire(self) -> bool:
        """Those older than their server allows are stale. Were there any?"""
        now = monotonic()
        records = self._known.values()
        old = [record for record in records if record.old_at is not None and record.old_at <= now]
        for record in old:
            record.old_at, record.fresh = None, False
        return bool(old)

    def save(self, cache: RecordKeeper) -> None:
        """Write down what is known, for the next start."""
        base, listing = self.key(ANYBODY), self.listing(ANYBODY)
        if self._definition.auth == "oauth" or listing is None:
            return
        by_client = {
            (key.modern, key.client): record.listing
            for key, record in list(self._known.items())[-MOST_KEPT:]
            if record.listing is not None and key != base
        }
        cache.save(self._definition.identity, UpstreamRecord(listing, self._learnt, by_client))

    # -- tasks -------------------------------------------------------------------------

    def _learn_supports(self, caller: str, listing: Listing) -> None:
        """Only one revision has a word for it; what is listed in others says nothing."""
        revision = ALL.get(listing.revision or "")
        for tool in listing.tools:
            if "execution" in tool or (revision is not None and revision.tasks == "core"):
                self._supports[caller, str(tool.get("name"))] = support_in(tool)

    def task_support(self, caller: str, tool: str) -> Support | None:
        """None where the tool has not been listed in that revision."""
        return self._supports.get((caller, tool))

    # -- arguments that travel in headers ----------------------------------------------

    def headers(self, caller: str, tool: str) -> Headers | None:
        """None where the tool has not been listed, or not since it may have changed."""
        return self._headers.get((caller, tool))

    def _forget_headers(self, caller: str) -> None:
        for key in [key for key in self._headers if key[0] == caller]:
            del self._headers[key]

    def _learn_headers(self, caller: str, tool: JsonObject) -> None:
        try:
            headers = header_parameters(tool.get("inputSchema"))
        except ValueError:
            return  # only over stdio, where such a tool is listed and no header is sent
        self._headers[caller, str(tool.get("name"))] = headers
