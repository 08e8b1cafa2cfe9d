"""What one upstream lists to a client: asked once for all that are alike, and again when stale."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from toolyard.catalog.listing import Listing
from toolyard.errors import UpstreamError
from toolyard.protocol.call import Caller
from toolyard.protocol.tasks.words import Support
from toolyard.upstreams.condition import Condition
from toolyard.upstreams.connections import ANYBODY, Connections, Downstream, Loan
from toolyard.upstreams.copies import FindCopy, OtherCopy
from toolyard.upstreams.definition import Learnt, ServerDefinition
from toolyard.upstreams.link.link import LinkError, NotSent
from toolyard.upstreams.lists import asking as lists
from toolyard.upstreams.lists.disk import RecordKeeper, UpstreamRecord
from toolyard.upstreams.lists.records import Headers, ListingRecord, Records


class Listings:
    """Answers from the records of an upstream, and asks it where they are not fresh."""

    def __init__(
        self,
        definition: ServerDefinition,
        connections: Connections,
        condition: Condition,
        records: Records,
        learnt: Learnt,
        cache: RecordKeeper,
    ) -> None:
        self._definition = definition
        self._connections = connections
        self._condition = condition
        self._records = records
        self._learnt = learnt
        self._cache = cache
        self._finding_out = asyncio.Lock()
        self._find_copy: FindCopy | None = None
        self._recalled = definition.auth == "oauth"  # a caller's own listings are not kept

    def ask_elsewhere(self, find: FindCopy) -> None:
        """From now on another process of ours may have the server."""
        self._find_copy = find

    # -- without asking ----------------------------------------------------------------

    def known(self, client: Downstream = ANYBODY) -> Listing | None:
        """What it last listed, from memory or disk."""
        return self._records.listing(client)

    def lists_apart(self, client: Downstream) -> bool:
        """May it list something else to this client than to everybody?"""
        return self._records.key(client) != self._records.key(ANYBODY)

    def in_doubt(self, client: Downstream) -> bool:
        """Has something happened since it listed, that may have changed the list?"""
        return self._records.in_doubt(client)

    def headers(self, caller: Caller, tool: str) -> Headers | None:
        """Which arguments the tool wants in headers; None where it must be listed first."""
        return self._records.headers(self._definition.login_of(caller), tool)

    def task_support(self, caller: Caller, tool: str) -> Support | None:
        """Whether the tool runs as a task of the core form; None where it must be listed first."""
        return self._records.task_support(self._definition.login_of(caller), tool)

    def forget(self, caller: Caller) -> None:
        """What was listed to this caller no longer holds."""
        self._records.stale(self._definition.login_of(caller), "")

    # -- asking ------------------------------------------------------------------------

    async def get(self, client: Downstream = ANYBODY, *, anew: bool = False) -> Listing:
        """What it lists now, or what it last listed and why there is nothing newer."""
        if not anew and not self._recalled and self._records.listing(ANYBODY) is None:
            async with self._finding_out:
                await self._recall()
            kept = self._records.listing(client)
            if kept is not None:
                return kept  # believed until the server is used
        before = self._records.listing(client)
        trouble = self._condition.trouble(live=bool(self._connections.live()))
        listing = await self._of(client, trouble, anew)
        if listing.error is None and listing is not before:
            self._records.save(self._cache)
        return listing

    async def whole(self, client: Downstream) -> UpstreamRecord:
        """With what was learnt on the way, for another process of ours. Raises NotSent."""
        listing = await self.get(client)
        if listing.error is not None:
            raise NotSent(listing.error)
        return UpstreamRecord(listing, self._learnt)

    async def _recall(self) -> None:
        """What another process has kept, where we know nothing."""
        if self._recalled:
            return
        memory = await self._cache.recall(self._definition.identity, self._definition.name)
        self._recalled = True
        if memory is not None and self._records.listing(ANYBODY) is None:
            self._learnt.adopt(memory.learnt)
            self._records.load(memory)

    async def _of(self, client: Downstream, trouble: str | None, anew: bool) -> Listing:
        if self._learnt.speaks_modern(client.guise.modern) is None:
            async with self._finding_out:  # before that, nobody knows who is alike
                return await self._fresh(client, trouble, anew)
        return await self._fresh(client, trouble, anew)

    async def _fresh(self, client: Downstream, trouble: str | None, anew: bool) -> Listing:
        record = self._records.at(self._records.key(client))
        # In the lock also to look: while it is being asked, what it lists is not known yet.
        async with record.lock:
            if anew:
                record.fresh, record.listing = False, None
            before = record.listing or Listing(self._definition.name)
            if self._definition.disabled is not None:
                return replace(before, error=self._definition.disabled)
            if record.fresh:
                return replace(before, error=trouble or before.error)
            try:
                return await self._fetch(client, record)
            except (LinkError, UpstreamError) as error:
                return replace(before, error=self._condition.masked(str(error)))

    async def _fetch(self, client: Downstream, record: ListingRecord) -> Listing:
        copy = await self._find_copy(client) if self._find_copy is not None else None
        if copy is not None:
            return await self._ask_copy(client, record, copy)
        return await self._fetch_here(client, record)

    async def _ask_copy(
        self, client: Downstream, record: ListingRecord, copy: OtherCopy
    ) -> Listing:
        record.fresh = True  # before asking: a change announced meanwhile makes it stale again
        try:
            memory = await copy.listing(client)
        except BaseException:
            record.fresh = False
            raise
        self._learnt.adopt(memory.learnt)
        # Which era it has may be known only now.
        actual = self._records.at(self._records.key(client))
        actual.fresh = record.fresh
        self._records.note(actual, memory.listing, self._definition.login_of(client.caller))
        return memory.listing

    async def _fetch_here(self, client: Downstream, record: ListingRecord) -> Listing:
        loan = await self._connections.to_list(client)
        # Which era it has may be known only now.
        actual = self._records.at(self._records.key(client))
        if actual is record:
            return await self._ask(client, record, loan)
        async with actual.lock:
            return await self._ask(client, actual, loan)

    async def _ask(self, client: Downstream, record: ListingRecord, loan: Loan) -> Listing:
        clean = False
        record.fresh = True  # before asking: a change announced meanwhile makes it stale again
        try:
            listing = await lists.fetch(loan.session, client.guise.capabilities)
            clean = True
        except BaseException:
            record.fresh = False
            raise
        finally:
            loan.release(clean)
        self._records.note(record, listing, self._definition.login_of(client.caller))
        return listing

    async def open(self, client: Downstream) -> None:
        """Have the connection that lists; a new one makes what is known stale. Raises LinkError."""
        self._condition.refuse_if_disabled()
        (await self._connections.to_list(client)).release(True)

    def is_up(self, client: Downstream) -> bool:
        """Can it be asked what it lists to this client without opening a connection?"""
        return self._connections.is_up(client)
