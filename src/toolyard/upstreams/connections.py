"""All connections to one upstream, and which call may use which.

A question on a handshake-era connection does not say whose call it is about. So a connection
that announces elicitation, sampling or roots belongs to one client session, or to one call at
a time; connections that are shared announce none of these.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from time import monotonic
from typing import NamedTuple, TypeAlias

from toolyard.protocol.call import Call, Caller, Channel, JsonObject, Session
from toolyard.protocol.codec import dumps
from toolyard.upstreams.definition import ServerDefinition
from toolyard.upstreams.link import NotSent
from toolyard.upstreams.running import Owner
from toolyard.upstreams.session import NOBODY, QUESTIONS, UpstreamSession
from toolyard.upstreams.slot import Slot

MAX_CONNECTIONS = 64
MAX_SPARE = 4
SPARE_SECONDS = 60.0
_ASKED = frozenset(QUESTIONS.values())

Connect: TypeAlias = Callable[[Owner, Caller], Awaitable[UpstreamSession]]


class Lease(NamedTuple):
    session: UpstreamSession
    release: Callable[[bool], None]  # told whether the call ended in order


def questions_of(capabilities: JsonObject) -> JsonObject:
    return {k: v for k, v in capabilities.items() if k in _ASKED}


def nothing(clean: bool) -> None:
    pass


class Connections:
    def __init__(
        self, definition: ServerDefinition, connect: Connect, modern: bool | None = None
    ) -> None:
        self._definition = definition
        self._connect = connect
        self._shared: dict[str, Slot] = {}
        self._bound: dict[tuple[str, str], Slot] = {}
        self._spare: dict[tuple[str, bytes], list[Slot]] = {}
        self._lent: set[Slot] = set()
        self._closing: set[asyncio.Task[None]] = set()
        self._modern = modern

    # -- which one ---------------------------------------------------------------------

    def at_hand(self, call: Call) -> UpstreamSession | None:
        """A shared connection that is up, where this call may use one."""
        if not (self._modern or _ASKED.isdisjoint(call.client.capabilities)):
            return None
        slot = self._shared.get(self.key_of(call.caller))
        if slot is None:
            return None
        slot.last_used = monotonic()
        return slot.live

    async def lease(self, call: Call, channel: Channel) -> Lease:
        questions = questions_of(call.client.capabilities)
        if not questions or self._definition.share == "always" or self._modern:
            return Lease(await self.shared(call.caller), nothing)
        if self._modern is None:
            shared = await self.shared(call.caller)
            if shared.modern:
                return Lease(shared, nothing)
        if channel.session is not None:
            return Lease(await self._of_session(channel.session, call.caller, questions), nothing)
        return await self._of_call(call.caller, questions)

    async def shared(self, caller: Caller) -> UpstreamSession:
        slot = self.shared_slot(caller)
        slot.last_used = monotonic()
        session = slot.live or await slot.get()
        self._modern = session.modern
        return session

    def shared_slot(self, caller: Caller) -> Slot:
        key = self.key_of(caller)
        slot = self._shared.get(key)
        if slot is None:
            slot = self._shared[key] = Slot(partial(self._connect, NOBODY, caller))
        return slot

    def key_of(self, caller: Caller) -> str:
        """Connections that carry somebody's credentials are that caller's alone."""
        return caller.id if self._definition.auth == "oauth" else ""

    async def _of_session(
        self, session: Session, caller: Caller, questions: JsonObject
    ) -> UpstreamSession:
        key = (caller.id, session.key)
        slot = self._bound.get(key)
        if slot is None:
            self._make_room()
            slot = self._bound[key] = Slot(
                partial(self._connect, Owner(questions, session), caller)
            )
            session.on_close(partial(self._drop_bound, key))
        slot.last_used = monotonic()
        return await slot.get()

    async def _of_call(self, caller: Caller, questions: JsonObject) -> Lease:
        key = (caller.id, dumps(questions))
        slot = self._take_spare(key)
        if slot is None:
            self._make_room()
            slot = Slot(partial(self._connect, Owner(questions), caller))
        self._lent.add(slot)
        try:
            session = await slot.get()
        except BaseException:
            self._lent.discard(slot)
            self._close(slot)  # it may still be opening, and nobody would ever use it
            raise
        return Lease(session, partial(self._give_back, key, slot))

    def _take_spare(self, key: tuple[str, bytes]) -> Slot | None:
        spare = self._spare.get(key, [])
        while spare:
            slot = spare.pop()
            if slot.live is not None:
                return slot
            self._close(slot)
        return None

    def _give_back(self, key: tuple[str, bytes], slot: Slot, clean: bool) -> None:
        """Keep it for the next call, unless this one may still be at work or ask something."""
        self._lent.discard(slot)
        session = slot.live
        full = sum(map(len, self._spare.values())) >= MAX_SPARE
        if session is None or session.busy or full or not clean:
            self._close(slot)
            return
        slot.last_used = monotonic()
        self._spare.setdefault(key, []).append(slot)

    def _make_room(self) -> None:
        if len(self._bound) + len(self._lent) < MAX_CONNECTIONS:
            return
        idle = [key for key, slot in self._bound.items() if not _in_use(slot)]
        if not idle:
            raise NotSent(f"has {MAX_CONNECTIONS} connections in use already")
        self._drop_bound(min(idle, key=lambda key: self._bound[key].last_used))

    # -- the end of connections --------------------------------------------------------

    def _drop_bound(self, key: tuple[str, str]) -> None:
        slot = self._bound.pop(key, None)
        if slot is not None:
            self._close(slot)

    def sweep(self, idle: float, keep: Callable[[str], bool]) -> None:
        """Close what nobody has used for a while."""
        now = monotonic()
        for key, slot in self._shared.items():
            if slot.live and not _in_use(slot) and now - slot.last_used > idle and not keep(key):
                self._close(slot)
        for bound, slot in tuple(self._bound.items()):
            if not _in_use(slot) and now - slot.last_used > idle:
                self._drop_bound(bound)
        for spare in self._spare.values():
            for slot in [one for one in spare if now - one.last_used > min(idle, SPARE_SECONDS)]:
                spare.remove(slot)
                self._close(slot)

    def _close(self, slot: Slot) -> None:
        task = asyncio.get_running_loop().create_task(slot.close())
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

    async def close(self) -> None:
        await asyncio.gather(*(slot.close() for slot in self._slots()), return_exceptions=True)
        await asyncio.gather(*self._closing, return_exceptions=True)

    # -- what is there -----------------------------------------------------------------

    def _slots(self) -> Iterator[Slot]:
        yield from self._shared.values()
        yield from self._bound.values()
        yield from self._lent
        for spare in self._spare.values():
            yield from spare

    def live(self) -> list[UpstreamSession]:
        return [session for slot in self._slots() if (session := slot.live) is not None]

    def opening(self) -> bool:
        return any(slot.opening for slot in self._slots())

    def roots_changed(self, session_key: str) -> list[UpstreamSession]:
        """The connections that know the roots of this client session."""
        found = (slot.live for key, slot in self._bound.items() if key[1] == session_key)
        return [session for session in found if session and "roots" in session.owner.capabilities]


def _in_use(slot: Slot) -> bool:
    session = slot.live
    return slot.opening or (session is not None and session.busy)
