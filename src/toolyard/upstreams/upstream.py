"""One upstream: a server of the registry, with everything that is known about it.

An upstream is not a connection. It may have none, or many at once: one that plain clients
share, one for each client that may be asked something, one lent to a single call. All of them
share what was learnt about the server (its era, its transport), what it lists, and its failures.
So the work is cut like this:

    Calls            performs calls: takes a connection, sends, perhaps once more
    Listings         says what it lists, and asks it where nobody knows
    ResourceWatches  subscribes to resources
    Connections      which connection a call, a list or a subscription gets
    Opener           opens a connection when one is needed, brings back a lost one
    Condition        failures and back-off; the state follows from it

Each uses only those below it. `Upstream` makes them and says how they are doing together.

States. None is stored: each follows from the connections there are and from the last failure,
so that it cannot contradict them.

    disabled   The definition says so. Calls are refused, lists stay as they were.
    idle       No connection, and nothing wrong: it has not been needed yet, or was not used
               for a while and its connections were closed.
                 -> starting   a call, a list or a subscription needs a connection
    starting   A connection is being opened: a process spawned or a server dialled, and greeted.
                 -> up         it was greeted
                 -> down       it was not
    up         There is at least one connection.
                 -> idle       the last one was closed, as nobody used it
                 -> down       the last one was lost: the process ended, a probe got no answer
    down       The last attempt failed. Until the back-off is over, whoever needs a connection
               is refused at once, and told why and for how long. After a loss the first
               attempt may follow at once.
                 -> starting   somebody needs it, or it is wanted back: a shared connection
                               that was used lately, or one that somebody listens on

The order of things when a connection is opened: what was known about its lists becomes stale, its
watch asks again for everything that somebody listens to, and calls wait until it has taken in
its client's roots. The pool hears of a change when an upstream goes down, when it comes back,
and whenever its lists may have changed.

At the end nothing is opened any more, then every connection is closed, then everything that
goes on beside the calls is cancelled; the farewells of lost connections are awaited.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

from toolyard.protocol.call import Call, Channel, JsonObject
from toolyard.upstreams.calls import Calls
from toolyard.upstreams.condition import Condition
from toolyard.upstreams.connections import ANYBODY, Connections, Downstream, client_of
from toolyard.upstreams.conversation.roots import settle
from toolyard.upstreams.copies import OtherCopy, may_share
from toolyard.upstreams.definition import Learnt, ServerDefinition
from toolyard.upstreams.health import Health
from toolyard.upstreams.link.connect import Connector
from toolyard.upstreams.link.link import LinkError, NotSent
from toolyard.upstreams.lists.listings import Listings
from toolyard.upstreams.lists.records import Records
from toolyard.upstreams.opening import Opener
from toolyard.upstreams.setup import Setup
from toolyard.upstreams.target import Perform
from toolyard.upstreams.watching import ResourceWatches

# Who ran a server is gone: how long a call waits, step by step, until another process does.
MOVING = (0.0, 0.1, 0.2, 0.4, 0.8, 1.5, 1.5)


class Upstream:
    """One server of the registry, shared by all names with the same definition.

    `on_change`: its lists may have changed, or it went up or down. `on_open`: there is a
    connection that has to be looked after.
    """

    def __init__(
        self,
        definition: ServerDefinition,
        setup: Setup,
        on_change: Callable[[], None],
        on_open: Callable[[], None],
    ) -> None:
        self._definition = definition
        self._idle_stop = setup.idle_stop
        self._on_change_here = on_change
        self._hearers: list[Callable[[], None]] = []
        on_change = self._on_change = self._announce
        # A caller's own listings are not for the disk.
        memory = (
            None
            if definition.auth == "oauth"
            else setup.listing_cache.load(definition.identity, definition.name)
        )
        self._learnt = learnt = memory.learnt if memory else Learnt()
        limits = replace(setup.limits, call=definition.timeout or setup.limits.call)
        connector = Connector(definition, replace(setup, limits=limits), learnt)
        self._condition = condition = Condition(definition, on_change)
        self._records = records = Records(definition, learnt, memory)
        self._opener = opener = Opener(
            connector,
            condition,
            records,
            idle_stop=setup.idle_stop,
            on_change=on_change,
            on_open=on_open,
        )
        self._connections = connections = Connections(definition, opener, learnt)
        self.listings = Listings(
            definition, connections, condition, records, learnt, setup.listing_cache
        )
        self._calls = calls = Calls(connections, self.listings, condition)
        self._watches = ResourceWatches(connections)
        copied = definition.command is not None and definition.copies != "worker"
        self._copies = setup.copies if copied else None
        # Nearly always nobody but this process has a connection: no step in between.
        self.perform: Perform = calls.perform if self._copies is None else self._perform_anywhere
        if self._copies is not None:
            self.listings.ask_elsewhere(self._elsewhere)

    # -- for targets -------------------------------------------------------------------

    def _perform_anywhere(
        self, method: str, params: JsonObject, call: Call, channel: Channel
    ) -> Awaitable[JsonObject]:
        return self._anywhere(
            client_of(call, channel.session),
            lambda copy: copy.perform(method, params, call, channel),
            lambda: self._calls.perform(method, params, call, channel),
        )

    async def resume(self, task: JsonObject, call: Call, channel: Channel) -> JsonObject:
        return await self._anywhere(
            client_of(call, channel.session),
            lambda copy: copy.resume(task, call, channel),
            lambda: self._calls.resume(task, call, channel),
        )

    async def _anywhere(
        self,
        client: Downstream,
        there: Callable[[OtherCopy], Awaitable[JsonObject]],
        here: Callable[[], Awaitable[JsonObject]],
    ) -> JsonObject:
        """Where the server runs; again, where provably nothing was sent."""
        for pause in (*MOVING, None):
            try:
                copy = await self._elsewhere(client)
                if copy is None:
                    break
                return await there(copy)
            except NotSent:
                if pause is None:
                    raise
            await asyncio.sleep(pause)
        return await here()

    async def subscribe(
        self, uri: str, call: Call, channel: Channel, changed: Callable[[], None]
    ) -> Callable[[], None]:
        copy = await self._elsewhere(client_of(call, channel.session))
        if copy is not None:
            return await copy.subscribe(uri, call, changed)
        return await self._watches.subscribe(uri, call, channel, changed)

    async def _elsewhere(self, client: Downstream) -> OtherCopy | None:
        """The process of ours that has what this client needs; None: this one has it."""
        if self._copies is None or not may_share(self._definition, self._learnt, client):
            return None
        self._condition.refuse_if_disabled()
        copy = await self._copies.elsewhere(self._definition, self._changed_elsewhere)
        if copy is not None:
            self._connections.give_up_shared()  # it may have run here before
        return copy

    async def is_here(self) -> bool:
        """May another process of ours ask this one for it?"""
        return await self._elsewhere(ANYBODY) is None

    def _changed_elsewhere(self) -> None:
        self._records.stale("", "")
        self._on_change()

    def hear_changes(self, callback: Callable[[], None]) -> Callable[[], None]:
        """For a process of ours that has no copy of its own; returns what ends it."""
        self._hearers.append(callback)
        return lambda: self._hearers.remove(callback)

    def _announce(self) -> None:
        self._on_change_here()
        for callback in tuple(self._hearers):
            callback()

    def public_text(self, error: LinkError) -> str:
        return self._condition.public_text(error)

    # -- how it is doing ---------------------------------------------------------------

    def health(self) -> Health:
        sessions = self._connections.live()
        live, condition = bool(sessions), self._condition
        peer = sessions[0].peer if sessions else None
        listing = self.listings.known()
        return Health(
            server=self._definition.name,
            state=condition.state(live=live, opening=self._connections.opening()),
            reason=condition.trouble(live=live),
            transport=self._learnt.transport,
            revision=peer.revision.date if peer else listing.revision if listing else None,
            info=str(peer.info.get("name")) if peer and "name" in peer.info else None,
            connections=len(sessions),
            restarts=self._opener.restarts,
            calls=self._calls.count,
            last_error=condition.last_error,
            stderr=self._stderr(),
            retry_in=condition.retry_in() or None,
            journal=tuple(condition.journal),
        )

    def _stderr(self) -> str:
        """Of the process that runs, or is being started, or else of the one that failed last."""
        sessions = self._connections.live()
        text = sessions[0].link.diagnosis() if sessions else self._opener.diagnosis()
        return self._condition.masked(text) or self._condition.stderr

    @property
    def busy(self) -> bool:
        sessions = self._connections.live()
        return self._connections.opening() or any(session.busy for session in sessions)

    # -- what it is told ---------------------------------------------------------------

    def keep_to_itself(self, secrets: frozenset[str]) -> None:
        """Nothing that it says of its failures may hold these."""
        self._condition.keep_to_itself(secrets)

    async def retry(self) -> None:
        """Connect now, whatever the back-off says; how that went is in the journal."""
        self._condition.try_again()
        try:
            await self.listings.open(ANYBODY)
        except LinkError:
            return

    def expire(self) -> None:
        """Somebody looks at the listings: those older than their server allows are stale."""
        if self._records.expire():
            self._on_change()

    def roots_changed(self, session_key: str) -> None:
        for session in self._connections.roots_changed(session_key):
            settle(session, changed=True)

    def sweep(self) -> None:
        self._connections.sweep(self._idle_stop)

    async def close(self) -> None:
        self._opener.stop()
        await self._connections.close()
        await asyncio.gather(self._calls.close(), self._watches.close(), self._opener.close())
