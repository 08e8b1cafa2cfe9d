"""All connections to one upstream, and which call may use which.

A client is served in its own era where the upstream speaks it. A question on a
handshake-era connection does not say which call it is about. So a connection that announces
elicitation, sampling or roots belongs to one client session, or to one call at a time;
connections that are shared announce none of these, and are shared by clients that are alike.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from functools import partial
from time import monotonic
from typing import NamedTuple, Protocol

from toolyard.protocol.call import Call, Caller, JsonObject, Session
from toolyard.protocol.client import ASKED, told_in
from toolyard.protocol.client import key_of as client_key
from toolyard.protocol.guise import PLAIN, Guise, guise_of
from toolyard.protocol.revisions import LATEST, LATEST_HANDSHAKE, Revision, older
from toolyard.upstreams.background import Background
from toolyard.upstreams.conversation.roots import settle
from toolyard.upstreams.conversation.running import Owner, Running, TaskForm
from toolyard.upstreams.conversation.session import UpstreamSession
from toolyard.upstreams.definition import Learnt, ServerDefinition
from toolyard.upstreams.link.link import NotSent
from toolyard.upstreams.lists.watch import ChangeWatch
from toolyard.upstreams.slot import Slot

MAX_CONNECTIONS = 64
# Shared connections that announce something. Clients beyond these share the plain one.
MAX_SHARED = 16
MAX_SPARE = 4
SPARE_SECONDS = 60.0


class Opening(Protocol):
    """Opens connections. Both are asked once for each slot, `connect` again after a loss."""

    async def connect(self, owner: Owner, caller: Caller, slot: Slot) -> UpstreamSession:
        """Raises a LinkError."""

    def new_watch(self, caller: str, client: str) -> ChangeWatch:
        """By whose login it is opened, and what its clients can do."""


class Downstream(NamedTuple):
    """On whose behalf an upstream is spoken to."""

    caller: Caller
    guise: Guise = PLAIN
    session: Session | None = None
    revision: Revision = LATEST


# Who asks on nobody's behalf.
ANYBODY = Downstream(Caller(id="", name=""))


class SharedKey(NamedTuple):
    """Clients that are the same in all of this may share a connection."""

    caller: str
    modern: bool
    client: str


class Loan(NamedTuple):
    """A connection that somebody uses, until it is released."""

    session: UpstreamSession
    release: Callable[[bool], None]  # with: did the call end in order?
    watch: ChangeWatch


def client_of(call: Call, session: Session | None) -> Downstream:
    if call.task is not None:
        session = None  # a task outlives the session that it was begun on
    return Downstream(call.caller, guise_of(call.revision, call.client), session, call.revision)


def _with_tasks(client: Downstream, form: TaskForm) -> Downstream:
    if form == "core":
        return client._replace(session=None, revision=LATEST_HANDSHAKE)
    return client._replace(session=None, revision=LATEST, guise=client.guise._replace(modern=True))


def nothing(clean: bool) -> None:
    pass


class Connections:
    """Every connection to one upstream: in its slot, and in one of five places at a time.

    Shared by clients that are alike; bound to a client session; lent to a call, and spare when
    that call is over; or kept only because somebody listens on it.
    """

    def __init__(self, definition: ServerDefinition, opener: Opening, learnt: Learnt) -> None:
        self._definition = definition
        self._opener = opener
        self._learnt = learnt
        self._shared: dict[SharedKey, Slot] = {}
        self._bound: dict[tuple[str, str], Slot] = {}
        self._spare: dict[tuple[str, str], list[Slot]] = {}
        self._lent: set[Slot] = set()
        self._listened: set[Slot] = set()
        self._closing = Background()

    # -- which one ---------------------------------------------------------------------

    def at_hand(self, call: Call) -> UpstreamSession | None:
        """A shared connection that is up, where this call may use one."""
        modern, client = self._learnt.speaks_modern(call.revision.modern), ""
        if modern is None:
            return None
        if not modern and call.client.capabilities:
            if not ASKED.isdisjoint(call.client.capabilities):
                return None
            client = guise_of(call.revision, call.client).key
        key = (self._definition.login_of(call.caller), modern, client)  # cheaper than a SharedKey
        slot: Slot | None = self._shared.get(key)  # type: ignore[call-overload]
        if slot is None:
            return None
        slot.last_used = monotonic()
        return slot.live

    async def lend(self, running: Running) -> Loan:
        """The connection for a call: the client's own, or one in a revision that has tasks."""
        client = client_of(running.call, running.channel.session)
        if running.form is not None:
            client = _with_tasks(client, running.form)
        if await self._shares(client):
            return await self.shared(client)
        if client.session is not None:
            loan = await self._of_session(client, client.session, running)
        else:
            loan = await self._of_call(client, running)
        if not loan.session.modern:
            return loan
        loan.release(False)  # it has the other era only: it need not have been opened
        return await self.shared(client)

    async def to_list(self, client: Downstream) -> Loan:
        """One over which this client's lists can be had: its own, or that of a client like it."""
        if await self._shares(client):
            return await self.shared(client)
        slot = self._bound.get(_bound_key(client)) if client.session else None
        if slot is None or slot.live is None:
            slot = self._alike(client) or slot
        if slot is not None and slot.live is not None:
            return Loan(slot.live, nothing, slot.watch)
        if client.session is not None:
            return await self._of_session(client, client.session)
        return await self._of_call(client, None)

    async def to_watch(self, client: Downstream) -> Loan:
        """Where the calls of this client go; released once somebody listens."""
        if await self._shares(client):
            return await self.shared(client)
        if client.session is not None:
            return await self._of_session(client, client.session)
        return await self._of_call(client, None)

    def is_up(self, client: Downstream) -> bool:
        """Can `to_list` do without opening one?"""
        modern = self._learnt.speaks_modern(client.guise.modern)
        if modern is None:
            return False
        if modern or not client.guise.can_be_asked or self._definition.share == "always":
            return self.shared_slot(client)[1].live is not None
        return self._alike(client) is not None

    async def _shares(self, client: Downstream) -> bool:
        """May this client use a connection that others use as well?"""
        if not client.guise.can_be_asked or self._definition.share == "always":
            return True
        modern = self._learnt.speaks_modern(client.guise.modern)
        if modern is None and client.guise.modern:
            modern = (await self.shared(client)).session.modern
        return bool(modern)

    def _alike(self, client: Downstream) -> Slot | None:
        """The connection of another client that can do the same."""
        owner_key = (self._definition.login_of(client.caller), client.guise.key)
        for slot in self._slots():
            if not slot.shared and slot.whose == owner_key and slot.live is not None:
                return slot
        return None

    # -- shared ------------------------------------------------------------------------

    async def shared(self, client: Downstream) -> Loan:
        key, slot = self.shared_slot(client)
        slot.last_used = monotonic()
        session = slot.live or await slot.get()
        if session.modern is not key.modern:
            slot = self._moved(key, slot, session)
            session = slot.live or await slot.get()
        return Loan(session, nothing, slot.watch)

    def shared_slot(self, client: Downstream) -> tuple[SharedKey, Slot]:
        modern = self._learnt.speaks_modern(client.guise.modern)
        modern = client.guise.modern if modern is None else modern
        capabilities = {} if modern else _without_questions(client.guise.capabilities)
        key = SharedKey(self._definition.login_of(client.caller), modern, client_key(capabilities))
        if key.client and key not in self._shared and self._kinds() >= MAX_SHARED:
            key, capabilities = key._replace(client=""), {}
        slot = self._shared.get(key)
        if slot is None:
            revision = LATEST if modern else LATEST_HANDSHAKE
            owner = Owner(capabilities, revision=revision, shared=True)
            slot = self._shared[key] = self._slot(owner, client.caller, key.client)
        return key, slot

    def _kinds(self) -> int:
        return sum(1 for key in self._shared if key.client)

    def _moved(self, key: SharedKey, slot: Slot, session: UpstreamSession) -> Slot:
        """It turned out to speak the other era: everybody who does shares one connection."""
        if self._shared.get(key) is slot:
            del self._shared[key]
        client = "" if session.modern else key.client
        there = self._shared.setdefault(SharedKey(key.caller, session.modern, client), slot)
        if there is not slot:
            self._close(slot)
        return there

    def _slot(self, owner: Owner, caller: Caller, client: str) -> Slot:
        whose = (self._definition.login_of(caller), client)
        connect = partial(self._opener.connect, owner, caller)
        return Slot(connect, self._opener.new_watch(*whose), whose, shared=owner.shared)

    # -- one client's ------------------------------------------------------------------

    async def _of_session(
        self, client: Downstream, session: Session, running: Running | None = None
    ) -> Loan:
        key = _bound_key(client)
        slot = self._bound.get(key)
        if slot is None:
            self._make_room()
            owner = self._owner(client, session, running)
            slot = self._bound[key] = self._slot(owner, client.caller, client.guise.key)
            session.on_close(partial(self._drop_bound, key))
        slot.last_used = monotonic()
        upstream = await slot.get()
        if upstream.modern:
            return Loan(upstream, lambda _clean: self._drop_bound(key), slot.watch)
        return Loan(upstream, nothing, slot.watch)

    def _owner(
        self, client: Downstream, session: Session | None, borrower: Running | None
    ) -> Owner:
        """In the newest handshake revision that both the client and the upstream have."""
        newest = self._learnt.newest
        preference = LATEST_HANDSHAKE if client.revision.modern else client.revision
        revision = older(preference, newest) if newest is not None else preference
        capabilities = client.guise.capabilities
        if revision is not client.revision:
            capabilities = told_in(revision, capabilities)
        return Owner(capabilities, session, revision, borrower=borrower)

    async def _of_call(self, client: Downstream, running: Running | None) -> Loan:
        key = (client.caller.id, client.guise.key)
        slot = self._take_spare(key)
        if slot is None:
            self._make_room()
            owner = self._owner(client, None, running)
            slot = self._slot(owner, client.caller, client.guise.key)
        self._lent.add(slot)
        try:
            session = await slot.get()
        except BaseException:
            self._lent.discard(slot)
            self._close(slot)  # it may still be opening, and nobody would ever use it
            raise
        changes_hands = session.carrier.running is not running
        session.carrier.lend(running)
        if session.roots.keeps and running is not None and changes_hands:
            settle(session, changed=True)
        return Loan(session, partial(self._give_back, key, slot), slot.watch)

    def _take_spare(self, key: tuple[str, str]) -> Slot | None:
        spare = self._spare.get(key, [])
        spare.sort(key=lambda slot: slot.watch.wanted)  # where somebody listens, calls go first
        while spare:
            slot = spare.pop()
            if slot.live is not None:
                return slot
            self._close(slot)
        return None

    def _give_back(self, key: tuple[str, str], slot: Slot, clean: bool) -> None:
        """Keep it for the next call, unless this one may still be at work or ask something.

        It is not kept either where it knows this client's roots and cannot be told of others.
        """
        self._lent.discard(slot)
        session, has_listeners = slot.live, slot.watch.wanted
        full = sum(map(len, self._spare.values())) >= MAX_SPARE and not has_listeners
        if session is None or session.busy or full or not clean or not _may_change_hands(session):
            if has_listeners:
                self._listened.add(slot)  # for whoever listens; calls go elsewhere
            else:
                self._close(slot)
            return
        session.carrier.lend(None)
        slot.last_used = monotonic()
        self._spare.setdefault(key, []).append(slot)

    def _make_room(self) -> None:
        if len(self._bound) + len(self._lent) + len(self._listened) < MAX_CONNECTIONS:
            return
        idle = [key for key, slot in self._bound.items() if not slot.in_use]
        if not idle:
            raise NotSent(f"has {MAX_CONNECTIONS} connections in use already")
        self._drop_bound(min(idle, key=lambda key: self._bound[key].last_used))

    # -- the end of connections --------------------------------------------------------

    def _drop_bound(self, key: tuple[str, str]) -> None:
        slot = self._bound.pop(key, None)
        if slot is not None:
            self._close(slot)

    def sweep(self, idle: float) -> None:
        """Close what nobody has used for a while."""
        now = monotonic()
        for key, slot in tuple(self._shared.items()):
            if slot.live and not slot.in_use and now - slot.last_used > idle:
                # Whoever comes next gets a new slot, and not one that is being closed.
                del self._shared[key]
                self._close(slot)
        for bound, slot in tuple(self._bound.items()):
            if not slot.in_use and now - slot.last_used > idle:
                self._drop_bound(bound)
        for slot in [slot for slot in self._listened if not slot.in_use]:
            self._listened.discard(slot)
            self._close(slot)
        for spare in self._spare.values():
            old = [slot for slot in spare if now - slot.last_used > min(idle, SPARE_SECONDS)]
            for slot in [slot for slot in old if not slot.in_use]:
                spare.remove(slot)
                self._close(slot)

    def give_up_shared(self) -> None:
        """Others run the server from now on; what is still in use goes on."""
        for key, slot in tuple(self._shared.items()):
            if not slot.in_use:
                del self._shared[key]
                self._close(slot)

    def _close(self, slot: Slot) -> None:
        self._closing.start(slot.close())

    async def close(self) -> None:
        slots = tuple(self._slots())
        await asyncio.gather(*(slot.watch.close() for slot in slots))
        await asyncio.gather(*(slot.close() for slot in slots), return_exceptions=True)
        await self._closing.finish()

    # -- what is there -----------------------------------------------------------------

    def _slots(self) -> Iterator[Slot]:
        yield from self._shared.values()
        yield from self._bound.values()
        yield from self._lent
        yield from self._listened
        for spare in self._spare.values():
            yield from spare

    def live(self) -> list[UpstreamSession]:
        return [session for slot in self._slots() if (session := slot.live) is not None]

    def opening(self) -> bool:
        return any(slot.opening for slot in self._slots())

    def roots_changed(self, session_key: str) -> list[UpstreamSession]:
        """The connections that know the roots of this client session."""
        sessions = (slot.live for key, slot in self._bound.items() if key[1] == session_key)
        return [
            session for session in sessions if session and "roots" in session.owner.capabilities
        ]


def _bound_key(client: Downstream) -> tuple[str, str]:
    return client.caller.id, client.session.key if client.session else ""


def _may_change_hands(session: UpstreamSession) -> bool:
    """Another client may have other roots, and not every upstream can be told of them."""
    roots = session.owner.capabilities.get("roots")
    return not session.roots.keeps or (isinstance(roots, dict) and bool(roots.get("listChanged")))


def _without_questions(capabilities: JsonObject) -> JsonObject:
    """What a client can do beside being asked."""
    return {name: value for name, value in capabilities.items() if name not in ASKED}
