"""What one upstream lists: to each kind of client once, and the same to all that are alike."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import NamedTuple

from toolyard.catalog.listing import Listing
from toolyard.errors import UpstreamError
from toolyard.protocol.call import JsonObject
from toolyard.protocol.client import ASKED
from toolyard.protocol.client import key_of as client_key
from toolyard.protocol.headers import header_parameters
from toolyard.telemetry import masked
from toolyard.upstreams.connections import Connections, Downstream, Lease
from toolyard.upstreams.definition import ServerDefinition
from toolyard.upstreams.link.link import LinkError
from toolyard.upstreams.lists import asking as lists
from toolyard.upstreams.lists.records import Learnt, RecordFolder, UpstreamRecord

# Callers with a login of their own are counted as well.
MOST_LISTINGS = 256
MOST_KEPT = 8

Headers = Mapping[tuple[str, ...], str]


class Key(NamedTuple):
    caller: str
    modern: bool
    client: str


@dataclass(eq=False, slots=True)
class Known:
    listing: Listing | None = None
    fresh: bool = False
    doubted: bool = False  # there was a sign that it may not be so any more
    old_at: float | None = None  # when it will not be, by the server's own word
    asking: asyncio.Lock = field(default_factory=asyncio.Lock)


class Listings:
    def __init__(
        self, definition: ServerDefinition, connections: Connections, learnt: Learnt
    ) -> None:
        self._definition = definition
        self._connections = connections
        self._learnt = learnt
        self._known: dict[Key, Known] = {}  # those used last come last
        self._finding_out = asyncio.Lock()
        self._headers: dict[tuple[str, str], Headers] = {}

    def load(self, record: UpstreamRecord, plain: Downstream) -> None:
        """What was kept is believed until the server is used."""
        self._at(self.key(plain)).listing = record.listing
        for (modern, client), listing in record.others.items():
            self._at(Key("", modern, client)).listing = listing

    def key(self, client: Downstream) -> Key:
        modern = self._learnt.speaks_modern(client.guise.modern)
        modern = client.guise.modern if modern is None else modern
        told = client.guise.key
        if not modern and told and self._definition.share == "always":
            able = client.guise.capabilities
            told = client_key({name: able[name] for name in able if name not in ASKED})
        return Key(self._connections.key_of(client.caller), modern, told)

    def _at(self, key: Key) -> Known:
        known = self._known.pop(key, None) or Known()
        self._known[key] = known
        while len(self._known) > MOST_LISTINGS:
            del self._known[next(iter(self._known))]
        return known

    # -- asking ------------------------------------------------------------------------

    def known(self, client: Downstream) -> Listing | None:
        found = self._known.get(self.key(client))
        return found.listing if found is not None else None

    def doubted(self, client: Downstream) -> bool:
        found = self._known.get(self.key(client))
        return found is None or found.doubted

    async def of(self, client: Downstream, trouble: str | None, *, anew: bool = False) -> Listing:
        """What it lists now, or what it last listed and why there is nothing newer."""
        if self._learnt.speaks_modern(client.guise.modern) is None:
            async with self._finding_out:  # before that, nobody knows who is alike
                return await self._of(client, trouble, anew)
        return await self._of(client, trouble, anew)

    async def _of(self, client: Downstream, trouble: str | None, anew: bool) -> Listing:
        known = self._at(self.key(client))
        # In the lock also to look: while it is being asked, what it lists is not known yet.
        async with known.asking:
            if anew:
                known.fresh, known.listing = False, None
            before = known.listing or Listing(self._definition.name)
            if self._definition.disabled is not None:
                return replace(before, error=self._definition.disabled)
            if known.fresh:
                return replace(before, error=trouble or before.error)
            try:
                return await self._fetch(client, known)
            except (LinkError, UpstreamError) as error:
                return replace(before, error=masked(str(error), self._definition.secrets))

    async def _fetch(self, client: Downstream, known: Known) -> Listing:
        lease = await self._connections.to_list(client)
        actual = self._at(self.key(client))  # which era it has may be known only now
        if actual is known:
            return await self._ask(client, known, lease)
        async with actual.asking:
            return await self._ask(client, actual, lease)

    async def _ask(self, client: Downstream, known: Known, lease: Lease) -> Listing:
        clean = False
        known.fresh = True  # before asking: a change announced meanwhile makes it stale again
        try:
            fetched = await lists.fetch(lease.session, client.guise.capabilities)
            clean = True
        except BaseException:
            known.fresh = False
            raise
        finally:
            lease.release(clean)
        known.listing, known.doubted = fetched, not known.fresh
        known.old_at = None if fetched.lasts is None else monotonic() + fetched.lasts
        caller = self._connections.key_of(client.caller)
        for tool in fetched.tools:
            self._learn_headers(caller, tool)
        return fetched

    # -- how long it holds -------------------------------------------------------------

    def stale(self, caller: str, client: str) -> bool:
        """It may list something else to clients of this kind: to all, if they are plain ones."""
        found = False
        self._forget_headers(caller)
        for key, known in self._known.items():
            if key.caller == caller and client in ("", key.client):
                known.fresh, known.doubted = False, True
                found = found or known.listing is not None
        return found

    def expire(self) -> bool:
        """Those older than their server lets them be are stale; were there any?"""
        now = monotonic()
        old = [one for one in self._known.values() if one.old_at is not None and one.old_at <= now]
        for known in old:
            known.old_at, known.fresh = None, False
        return bool(old)

    def keep(self, records: RecordFolder, plain: Downstream) -> None:
        """Write down what is known, for the next start."""
        base = self.key(plain)
        listing = self.known(plain)
        if self._definition.auth == "oauth" or listing is None:
            return
        others = {
            (key.modern, key.client): known.listing
            for key, known in list(self._known.items())[-MOST_KEPT:]
            if known.listing is not None and key != base
        }
        records.save(self._definition.identity, UpstreamRecord(listing, self._learnt, others))

    # -- arguments that travel in headers ----------------------------------------------

    def headers(self, caller: str, tool: str) -> Headers | None:
        """None where the tool has not been listed, or not since it may have changed."""
        return self._headers.get((caller, tool))

    def _forget_headers(self, caller: str) -> None:
        for key in [key for key in self._headers if key[0] == caller]:
            del self._headers[key]

    def _learn_headers(self, caller: str, tool: JsonObject) -> None:
        try:
            wanted = header_parameters(tool.get("inputSchema"))
        except ValueError:
            return  # only over stdio, where such a tool is listed and no header is sent
        self._headers[caller, str(tool.get("name"))] = wanted
