"""One upstream: its calls, its health, what it last listed. Knows no transport."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import replace
from time import monotonic
from typing import Any

from toolyard.catalog.listing import Listing
from toolyard.errors import HEADER_MISMATCH, ProtocolError
from toolyard.protocol.call import Call, Caller, Channel, JsonObject
from toolyard.protocol.headers import parameters
from toolyard.telemetry import logger, masked
from toolyard.upstreams.backoff import Backoff
from toolyard.upstreams.connections import Connections, Downstream, Lease, client_of
from toolyard.upstreams.definition import ServerDefinition
from toolyard.upstreams.health import Health, State
from toolyard.upstreams.link.connect import CannotConnect, Connector
from toolyard.upstreams.link.link import NO_HEADERS, Down, LinkError, Lost, NotSent, TimedOut
from toolyard.upstreams.lists.listings import Listings
from toolyard.upstreams.lists.records import Learnt
from toolyard.upstreams.lists.watch import ChangeWatch
from toolyard.upstreams.roots import settle, wants_roots
from toolyard.upstreams.running import Owner, Running
from toolyard.upstreams.session import UpstreamSession
from toolyard.upstreams.setup import Setup
from toolyard.upstreams.slot import Slot

log = logger("upstreams")
# Who asks on nobody's behalf.
ANYBODY = Downstream(Caller(id="", name=""))


class Upstream:
    def __init__(
        self,
        definition: ServerDefinition,
        setup: Setup,
        changed: Callable[[], None],
        opened: Callable[[], None] = lambda: None,
    ) -> None:
        self.definition = definition
        self._setup = setup
        self._changed = changed
        self._opened = opened
        limits = replace(setup.limits, call=definition.timeout or setup.limits.call)
        record = (
            None
            if definition.auth == "oauth"
            else setup.records.load(definition.identity, definition.name)
        )
        self._connector = Connector(
            definition, replace(setup, limits=limits), record.learnt if record else Learnt()
        )
        learnt = self._connector.learnt
        self._connections = Connections(definition, self._connect, learnt, self._new_watch)
        self._listings = Listings(definition, self._connections, learnt)
        if record:
            self._listings.load(record, ANYBODY)
        self._backoff = Backoff()
        self._down: str | None = None
        self._last_error: str | None = None
        self._stderr = ""
        self._starts = self._calls = 0
        self._tasks: set[asyncio.Task[None]] = set()
        self._closing: set[asyncio.Task[None]] = set()  # awaited at the end, never cancelled
        self._closed = False

    # -- calls -------------------------------------------------------------------------

    def perform(
        self, method: str, params: JsonObject, call: Call, channel: Channel
    ) -> Awaitable[JsonObject]:
        """Raises ProtocolError for the upstream's own error, else a LinkError."""
        self._calls += 1
        if self.definition.disabled is not None:
            raise Down(f"is disabled: {self.definition.disabled}")
        return self._attempt(method, params, Running(call, channel), again=True)

    async def _attempt(
        self, method: str, params: JsonObject, running: Running, *, again: bool
    ) -> JsonObject:
        call, lease, clean = running.call, None, False
        session = self._connections.at_hand(call)
        try:
            if session is None:
                lease = await self._lease(running)
                session = lease.session
            if call.log_level is not None and not session.logs_from(call.log_level):
                await session.set_level(call.log_level)
            result = await self._send(session, method, params, running)
            clean = True
            self._backoff.worked()
            return result
        except ProtocolError as error:
            clean = True
            if not (again and self._is_outdated(error, session, call.caller)):
                raise
        except NotSent as error:
            if session is not None:
                session.link.lose(error)
            if not again:
                raise
        except TimedOut:
            self._doubt(session)
            raise
        finally:
            if lease is not None:
                lease.release(clean)
        # Provably not written, or refused unread: a second attempt runs it once.
        return await self._attempt(method, params, running, again=False)

    async def _lease(self, running: Running) -> Lease:
        lease = await self._connections.lease(running)
        session = lease.session
        try:
            if session.roots_pending and session.settling is None and not session.carrier.tried:
                session.settle(settle(session))  # this call may be the first that can carry it
            if session.settling is not None:
                session.carrier.lend(running)
                await asyncio.shield(session.settling)
        except BaseException:
            lease.release(False)
            raise
        finally:
            if session.owner.session is not None:
                session.carrier.lend(None)  # from now on it is asked itself
        return lease

    def _send(
        self, session: UpstreamSession, method: str, params: JsonObject, running: Running
    ) -> Awaitable[JsonObject]:
        if session.link.transport == "stdio" or method != "tools/call" or not session.modern:
            return session.request(method, params, running)
        # Modern servers over HTTP find some of the arguments in headers as well.
        caller = self._connections.key_of(running.call.caller)
        wanted = self._listings.headers(caller, params["name"])
        if wanted is None:
            return self._send_listed(session, method, params, running)
        headers = parameters(wanted, params.get("arguments") or {}) if wanted else NO_HEADERS
        return session.request(method, params, running, headers=headers)

    async def _send_listed(
        self, session: UpstreamSession, method: str, params: JsonObject, running: Running
    ) -> JsonObject:
        await self.listing(client_of(running.call, running.channel.session))
        caller = self._connections.key_of(running.call.caller)
        wanted = self._listings.headers(caller, params["name"])
        headers = parameters(wanted, params.get("arguments") or {}) if wanted else NO_HEADERS
        return await session.request(method, params, running, headers=headers)

    def _is_outdated(
        self, error: ProtocolError, session: UpstreamSession | None, caller: Caller
    ) -> bool:
        """It missed a header, and read no further: its schema has changed since we saw it."""
        if error.code != HEADER_MISMATCH or session is None or not session.modern:
            return False
        self._listings.stale(self._connections.key_of(caller), "")
        return True

    def _doubt(self, session: UpstreamSession | None) -> None:
        """After a call timed out: is it one slow call, or does it hang?"""
        if session is not None:
            self._spawn(self._check(session))

    async def _check(self, session: UpstreamSession) -> None:
        if session.link.lost is None and not await session.alive():
            session.link.lose(Lost("does not answer any more"))

    # -- connecting --------------------------------------------------------------------

    async def _connect(self, owner: Owner, caller: Caller, slot: Slot) -> UpstreamSession:
        self._refuse_while_down()
        try:
            session = await self._connector.connect(owner, caller, slot.watch.heard)
        except LinkError as error:
            self._backoff.refused(monotonic())
            self._failed(error, error.diagnosis if isinstance(error, CannotConnect) else "")
            raise
        self._opened()
        self._starts += owner.shared
        session.link.on_lost = lambda error: self._on_lost(session, error, slot)
        was_down, self._down = self._down, None
        slot.watch.attach(session)
        if wants_roots(session):
            session.settle(settle(session))
        stale = owner.shared and self._listings.stale(*slot.whose)
        if was_down or stale:
            self._changed()  # it may list something else than what is known of it
        return session

    def _refuse_while_down(self) -> None:
        if self._closed:
            raise Down("is being stopped")
        left = self._backoff.left(monotonic())
        if left > 0:
            raise Down(f"is down ({self._down}); the next attempt is in {left:.1f} s")

    def _on_lost(self, session: UpstreamSession, error: LinkError, slot: Slot) -> None:
        if self._closed:
            return
        self._backoff.crashed(monotonic())
        self._failed(error, session.link.diagnosis())
        closing = asyncio.get_running_loop().create_task(session.close())
        self._closing.add(closing)
        closing.add_done_callback(self._closing.discard)
        if session.owner.shared or slot.watch.wanted:
            self._spawn(self._revive(slot, shared=session.owner.shared))

    def _failed(self, error: LinkError, stderr: str) -> None:
        secrets = self.definition.secrets
        before, self._down = self._down, masked(str(error), secrets)
        self._last_error = self._down
        self._stderr = masked(stderr, secrets)
        level = logging.DEBUG if before == self._down else logging.WARNING
        log.log(level, "%s: %s", self.definition.name, self._down)
        if before is None:
            self._changed()

    async def _revive(self, slot: Slot, *, shared: bool) -> None:
        """Bring a lost connection back while it is wanted."""
        while not self._closed and (
            slot.watch.wanted or (shared and monotonic() - slot.last_used < self._setup.idle_stop)
        ):
            await asyncio.sleep(self._backoff.left(monotonic()))
            try:
                await slot.get()
                return
            except LinkError:
                continue

    # -- what it lists -----------------------------------------------------------------

    async def listing(self, client: Downstream = ANYBODY, *, anew: bool = False) -> Listing:
        """What it lists now, or what it last listed and why there is nothing newer."""
        before = self._listings.known(client)
        listed = await self._listings.of(client, self._trouble(), anew=anew)
        if listed.error is None and listed is not before:
            self._listings.keep(self._setup.records, ANYBODY)
        return listed

    async def open(self, client: Downstream) -> None:
        """Have the connection that lists; a new one makes what is known stale. Raises LinkError."""
        if self.definition.disabled is not None:
            raise Down(f"is disabled: {self.definition.disabled}")
        (await self._connections.to_list(client)).release(True)

    def known_listing(self, client: Downstream = ANYBODY) -> Listing | None:
        return self._listings.known(client)

    def lists_apart(self, client: Downstream) -> bool:
        return self._listings.key(client) != self._listings.key(ANYBODY)

    def doubted(self, client: Downstream) -> bool:
        return self._listings.doubted(client)

    def is_up(self, client: Downstream) -> bool:
        return self._connections.is_up(client)

    def expire(self) -> None:
        """Somebody looks at the listings: those older than their server lets them be are stale."""
        if self._listings.expire():
            self._changed()

    # -- what it announces -------------------------------------------------------------

    def _new_watch(self, caller: str, client: str) -> ChangeWatch:
        def lists_changed() -> None:
            self._listings.stale(caller, client)
            self._changed()

        return ChangeWatch(lists_changed)

    async def subscribe(
        self, uri: str, call: Call, channel: Channel, changed: Callable[[], None]
    ) -> Callable[[], None]:
        """Call `changed` whenever the resource may have changed, until what it gives is called."""
        lease = await self._connections.to_watch(client_of(call, channel.session))
        watch, listening = lease.watch, False
        try:
            await watch.add(uri, changed)
            listening = True
        finally:
            if not listening:
                await watch.remove(uri, changed)
            lease.release(listening)
        return lambda: self._spawn(watch.remove(uri, changed))

    # -- how it is doing ---------------------------------------------------------------

    def health(self) -> Health:
        live = self._connections.live()
        peer = live[0].peer if live else None
        known = self.known_listing()
        left = self._backoff.left(monotonic())
        secrets = self.definition.secrets
        return Health(
            server=self.definition.name,
            state=self._state(bool(live)),
            reason=self._trouble(),
            transport=self._connector.learnt.transport,
            revision=peer.revision.date if peer else known.revision if known else None,
            info=str(peer.info.get("name")) if peer and "name" in peer.info else None,
            connections=len(live),
            restarts=max(0, self._starts - 1),
            calls=self._calls,
            last_error=self._last_error,
            stderr=masked(live[0].link.diagnosis(), secrets) if live else self._stderr,
            retry_in=left or None,
        )

    @property
    def busy(self) -> bool:
        return self._connections.opening() or any(one.busy for one in self._connections.live())

    def keep_to_itself(self, secrets: frozenset[str]) -> None:
        """Tools have other defaults now: what it says of its failures may hold those as well."""
        known = self.definition.secrets
        if not secrets <= known:
            self.definition = replace(self.definition, secrets=known | secrets)

    def told(self, error: LinkError) -> str:
        return masked(str(error), self.definition.secrets)

    def _trouble(self) -> str | None:
        """Why it cannot be called now."""
        return self.definition.disabled or (None if self._connections.live() else self._down)

    def _state(self, live: bool) -> State:
        if self.definition.disabled is not None:
            return "disabled"
        if live:
            return "up"
        if self._connections.opening():
            return "starting"
        return "down" if self._down is not None else "idle"

    # -- the end -----------------------------------------------------------------------

    def sweep(self) -> None:
        self._connections.sweep(self._setup.idle_stop)

    def roots_changed(self, session_key: str) -> None:
        for session in self._connections.roots_changed(session_key):
            session.settle(settle(session, changed=True))

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        self._closed = True
        await self._connections.close()
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, *self._closing, return_exceptions=True)
