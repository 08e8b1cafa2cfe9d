"""One upstream: its calls, its health, what it last listed. Knows no transport."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import replace
from time import monotonic
from typing import Any

from toolyard.catalog.listing import Listing
from toolyard.errors import HEADER_MISMATCH, ProtocolError, UpstreamError
from toolyard.protocol.call import Call, Caller, Channel, JsonObject
from toolyard.protocol.headers import header_parameters, parameters
from toolyard.telemetry import logger
from toolyard.upstreams import listing as lists
from toolyard.upstreams.backoff import Backoff
from toolyard.upstreams.connect import CannotConnect, Connector
from toolyard.upstreams.connections import Connections
from toolyard.upstreams.definition import ServerDefinition
from toolyard.upstreams.health import Health, State, masked
from toolyard.upstreams.kept import Kept, Learnt
from toolyard.upstreams.link import NO_HEADERS, Down, LinkError, Lost, NotSent, TimedOut
from toolyard.upstreams.running import Owner, Running
from toolyard.upstreams.session import NOBODY, UpstreamSession
from toolyard.upstreams.setup import Setup
from toolyard.upstreams.watch import Watch

log = logger("upstreams")
NO_ONE = Caller(id="", name="")


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
        kept = (
            None
            if definition.auth == "oauth"
            else setup.kept.load(definition.identity, definition.name)
        )
        self._connector = Connector(
            definition, replace(setup, limits=limits), kept.learnt if kept else Learnt()
        )
        era = self._connector.learnt.era
        self._connections = Connections(
            definition, self._connect, modern=None if era is None else era == "modern"
        )
        self._listings: dict[str, Listing] = {"": kept.listing} if kept else {}
        self._fresh: set[str] = set()  # whose listing is current
        self._old_at: dict[str, float] = {}  # when it will not be, by the server's own word
        self._listing_locks: dict[str, asyncio.Lock] = {}
        self._headers: dict[tuple[str, str], Mapping[tuple[str, ...], str]] = {}
        self._watches: dict[str, Watch] = {}
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
                lease = await self._connections.lease(call, running.channel)
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

    def _send(
        self, session: UpstreamSession, method: str, params: JsonObject, running: Running
    ) -> Awaitable[JsonObject]:
        if session.link.transport == "stdio" or method != "tools/call" or not session.modern:
            return session.request(method, params, running)
        # Modern servers over HTTP find some of the arguments in headers as well.
        key = self._connections.key_of(running.call.caller)
        if key not in self._fresh:
            return self._send_listed(session, method, params, running)
        headers = self._param_headers(key, params)
        return session.request(method, params, running, headers=headers)

    async def _send_listed(
        self, session: UpstreamSession, method: str, params: JsonObject, running: Running
    ) -> JsonObject:
        await self.listing(running.call.caller)
        headers = self._param_headers(self._connections.key_of(running.call.caller), params)
        return await session.request(method, params, running, headers=headers)

    def _param_headers(self, key: str, params: JsonObject) -> Mapping[str, str]:
        wanted = self._headers.get((key, params["name"]))
        return parameters(wanted, params.get("arguments") or {}) if wanted else NO_HEADERS

    def _is_outdated(
        self, error: ProtocolError, session: UpstreamSession | None, caller: Caller
    ) -> bool:
        """It missed a header, and read no further: its schema has changed since we saw it."""
        if error.code != HEADER_MISMATCH or session is None or not session.modern:
            return False
        self._fresh.discard(self._connections.key_of(caller))
        return True

    def _doubt(self, session: UpstreamSession | None) -> None:
        """After a call timed out: is it one slow call, or does it hang?"""
        if session is not None:
            self._spawn(self._check(session))

    async def _check(self, session: UpstreamSession) -> None:
        if session.link.lost is None and not await session.alive():
            session.link.lose(Lost("does not answer any more"))

    # -- connecting --------------------------------------------------------------------

    async def _connect(self, owner: Owner, caller: Caller) -> UpstreamSession:
        self._refuse_while_down()
        key = self._connections.key_of(caller)
        watch = self._watch(key)
        try:
            session = await self._connector.connect(owner, caller, watch.heard)
        except LinkError as error:
            self._backoff.refused(monotonic())
            self._failed(error, error.diagnosis if isinstance(error, CannotConnect) else "")
            raise
        self._opened()
        self._starts += owner is NOBODY
        session.link.on_lost = lambda error: self._on_lost(session, error, caller)
        was_down, self._down = self._down, None
        if owner is NOBODY:
            self._fresh.discard(key)
            watch.attach(session)
        if was_down or (owner is NOBODY and (self._starts > 1 or key in self._listings)):
            self._changed()  # it may list something else than what is known of it
        return session

    def _refuse_while_down(self) -> None:
        if self._closed:
            raise Down("is being stopped")
        left = self._backoff.left(monotonic())
        if left > 0:
            raise Down(f"is down ({self._down}); the next attempt is in {left:.1f} s")

    def _on_lost(self, session: UpstreamSession, error: LinkError, caller: Caller) -> None:
        if self._closed:
            return
        self._backoff.crashed(monotonic())
        self._failed(error, session.link.diagnosis())
        closing = asyncio.get_running_loop().create_task(session.close())
        self._closing.add(closing)
        closing.add_done_callback(self._closing.discard)
        if session.owner is NOBODY:
            self._spawn(self._revive(caller))

    def _failed(self, error: LinkError, stderr: str) -> None:
        secrets = self.definition.secrets
        before, self._down = self._down, masked(str(error), secrets)
        self._last_error = self._down
        self._stderr = masked(stderr, secrets)
        level = logging.DEBUG if before == self._down else logging.WARNING
        log.log(level, "%s: %s", self.definition.name, self._down)
        if before is None:
            self._changed()

    async def _revive(self, caller: Caller) -> None:
        """Bring a lost connection back while it is wanted."""
        slot = self._connections.shared_slot(caller)
        watch = self._watch(self._connections.key_of(caller))
        while not self._closed and (
            watch.wanted or monotonic() - slot.last_used < self._setup.idle_stop
        ):
            await asyncio.sleep(self._backoff.left(monotonic()))
            try:
                await slot.get()
                return
            except LinkError:
                continue

    # -- what it lists -----------------------------------------------------------------

    async def listing(self, caller: Caller = NO_ONE, *, anew: bool = False) -> Listing:
        """What it lists now, or what it last listed and why there is nothing newer."""
        key = self._connections.key_of(caller)
        # In the lock also to look: while it is being asked, what it lists is not known yet.
        async with self._listing_locks.setdefault(key, asyncio.Lock()):
            if anew:
                self._fresh.discard(key)
                self._listings.pop(key, None)
            known = self._listings.get(key, Listing(self.definition.name))
            if self.definition.disabled is not None:
                return replace(known, error=self.definition.disabled)
            if key in self._fresh:
                return replace(known, error=self._trouble() or known.error)
            try:
                await self._fetch(key, caller)
            except (LinkError, UpstreamError) as error:
                return replace(known, error=masked(str(error), self.definition.secrets))
            return self._listings[key]

    async def open(self, caller: Caller) -> None:
        """Have the connection that lists; a new one makes what is known stale. Raises LinkError."""
        if self.definition.disabled is not None:
            raise Down(f"is disabled: {self.definition.disabled}")
        await self._connections.shared(caller)

    def known_listing(self) -> Listing | None:
        return self._listings.get("")

    async def _fetch(self, key: str, caller: Caller) -> None:
        session = await self._connections.shared(caller)
        self._fresh.add(key)  # before asking: a change announced meanwhile makes it stale again
        try:
            fetched = await lists.fetch(session)
        except BaseException:
            self._fresh.discard(key)
            raise
        self._listings[key] = fetched
        self._old_at.pop(key, None)
        if fetched.lasts is not None:
            self._old_at[key] = monotonic() + fetched.lasts
        for tool in fetched.tools:
            self._learn_headers(key, tool)
        if self.definition.auth != "oauth":
            self._setup.kept.save(self.definition.identity, Kept(fetched, self._connector.learnt))

    def expire(self) -> None:
        """Somebody looks at the listings: those older than their server lets them be are stale."""
        if not self._old_at:
            return
        now = monotonic()
        for key in [key for key, when in self._old_at.items() if when <= now]:
            del self._old_at[key]
            self._fresh.discard(key)
            self._changed()

    def _learn_headers(self, key: str, tool: JsonObject) -> None:
        try:
            wanted = header_parameters(tool.get("inputSchema"))
        except ValueError:
            return  # only over stdio, where such a tool is listed and no header is sent
        self._headers[key, str(tool.get("name"))] = wanted

    # -- what it announces -------------------------------------------------------------

    def _watch(self, key: str) -> Watch:
        def lists_changed() -> None:
            self._fresh.discard(key)
            self._changed()

        return self._watches.setdefault(key, Watch(lists_changed))

    async def watch(self, uri: str, caller: Caller, changed: Callable[[], None]) -> None:
        """Call `changed` whenever the resource may have changed, until cancelled."""
        watch = self._watch(self._connections.key_of(caller))
        await self._connections.shared(caller)
        try:
            await watch.add(uri, changed)
            await asyncio.Event().wait()
        finally:
            await watch.remove(uri, changed)

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
        self._connections.sweep(self._setup.idle_stop, lambda key: self._watch(key).wanted)

    def roots_changed(self, session_key: str) -> None:
        for session in self._connections.roots_changed(session_key):
            self._spawn(session.notify("notifications/roots/list_changed", {}))

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        self._closed = True
        await asyncio.gather(*(watch.close() for watch in self._watches.values()))
        await self._connections.close()
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, *self._closing, return_exceptions=True)
