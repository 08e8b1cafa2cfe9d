"""All sessions of this process in the store; and those of others, taken over.

A session is taken over by whoever gets a request for it when nobody has it: its owner has handed
it over, or the owner's term is over. It goes through its beginning once more, under the
credential of the live request: greeted, ready, its level, its subscriptions; then its client is
told that lists may have changed.
"""

from __future__ import annotations

import asyncio
from time import monotonic

from toolyard.cluster.cluster import Shared
from toolyard.cluster.roster import just_back
from toolyard.cluster.tenure import lease_of, process_of
from toolyard.protocol.call import Caller, JsonObject
from toolyard.protocol.jsonrpc import Notification, RpcRequest
from toolyard.protocol.kinds import SPELLED
from toolyard.store.interface import Lease, StoreError
from toolyard.telemetry import logger
from toolyard.transports.endpoint.keeping.record import INITIALIZED, LEAP, SessionRecord
from toolyard.transports.endpoint.keeping.session import KEPT_FOR, Keep, KeptSession, name_of
from toolyard.transports.endpoint.session_ids import SessionTicket
from toolyard.transports.endpoint.sessions import HttpSession, HttpSessions, Past

log = logger("sessions")
RENEW_EVERY = KEPT_FOR / 6
BUSY_STEP = 0.05


class HeldBy(Exception):
    """This process has it, and is there; an empty name: somebody, or nobody yet."""

    def __init__(self, process: str) -> None:
        super().__init__(process)
        self.process = process


class Keeping:
    def __init__(self, shared: Shared, sessions: HttpSessions) -> None:
        self._store = shared.store
        self._tenure = shared.tenure
        self._sessions = sessions
        self._keep = Keep(shared.store, shared.tenure, self._lost)
        self._taking: dict[str, asyncio.Task[HttpSession | None]] = {}
        self._leaving: set[str] = set()  # keys of sessions that are being handed over
        self._renewing: asyncio.Task[None] | None = None
        self._reclaiming: asyncio.Task[None] | None = None
        shared.store.on_return(self._returned)

    # -- our own -----------------------------------------------------------------------

    async def add(self, session: HttpSession, opening: JsonObject) -> None:
        """A session was opened here: others are to know of it before its client does."""
        key, lease = session.handshake.key, None
        try:
            lease = await self._store.take(name_of(key), self._tenure.term, KEPT_FOR)
        except StoreError:
            pass  # it lives here, and is written when the store is back
        kept = KeptSession(self._keep, key, SessionRecord(opening), lease)
        self._attach(session, kept)
        await kept.written()

    def _attach(self, session: HttpSession, kept: KeptSession) -> None:
        session.kept = kept
        kept.follow(session.general)
        if self._renewing is None:
            self._renewing = asyncio.create_task(self._renew())

    def _returned(self) -> None:
        self._reclaiming = asyncio.create_task(self._reclaim_all())

    async def _reclaim_all(self) -> None:
        """The store may have lost what it had: write everything again."""
        try:
            for session in self._sessions:
                if session.kept is not None and not await session.kept.confirm():
                    self._lost(session.handshake.key)
        except StoreError:
            pass  # it is away again

    async def _renew(self) -> None:
        while True:
            await asyncio.sleep(RENEW_EVERY)
            oldest = monotonic() - KEPT_FOR
            for session in self._sessions:
                if session.kept is None or not session.kept.is_ours():
                    continue
                if session.last_used < oldest and not session.in_use:
                    self._sessions.end(session)
                    continue
                try:
                    await session.kept.renew()
                except StoreError:
                    break

    def _lost(self, key: str) -> None:
        for session in self._sessions:
            if session.handshake.key == key:
                log.warning("another process has taken over a session: it ends here")
                self._sessions.drop(session)

    async def confirmed(self, session: HttpSession) -> bool:
        """Our lease ran out: is it still ours? If not, it ends here. Raises StoreError."""
        assert session.kept is not None
        if session.kept.is_ours() or await session.kept.confirm():
            return True
        self._lost(session.handshake.key)
        return False

    # -- those of others ---------------------------------------------------------------

    async def take_over(
        self, ticket: SessionTicket, session_id: str, caller: Caller
    ) -> HttpSession | None:
        """None: there is no such session. Raises HeldBy and StoreError."""
        taking = self._taking.get(ticket.key)
        if taking is None:
            work = self._take_over(ticket.key, session_id, caller)
            taking = self._taking[ticket.key] = asyncio.create_task(work)
            taking.add_done_callback(lambda _: self._taking.pop(ticket.key, None))
        return await asyncio.shield(taking)

    async def _take_over(self, key: str, session_id: str, caller: Caller) -> HttpSession | None:
        if key in self._leaving:
            raise HeldBy("")  # for a moment
        name = name_of(key)
        await self._tenure.until_held()
        records, lease = await asyncio.gather(self._store.read(name), self._store.held(name))
        if records[0] is None:
            if just_back(self._store):
                raise HeldBy("")  # perhaps; it will be written
            return None
        if lease is not None and lease.holder != self._tenure.term:
            if await self._store.held(lease_of(lease.holder)) is not None:
                raise HeldBy(process_of(lease.holder))
            await self._store.release(lease)
        own = await self._store.take(name, self._tenure.term, KEPT_FOR)
        if own is None:
            raise HeldBy("")
        (kept,) = await self._store.read(name)  # nobody else writes it from now on
        if kept is None:
            return None
        return await self._restored(key, session_id, caller, SessionRecord.decode(kept.value), own)

    async def _restored(
        self, key: str, session_id: str, caller: Caller, record: SessionRecord, lease: Lease
    ) -> HttpSession:
        record.generation += 1
        past = Past(key, record.count, record.general + LEAP)
        session = self._sessions.open(caller, past)
        await _go_through_again(session, record)
        kept = KeptSession(self._keep, key, record, lease)
        self._attach(session, kept)
        self._sessions.admit(session, session_id)
        await kept.written()
        log.info("a session was taken over")
        return session

    # -- the end -----------------------------------------------------------------------

    async def hand_over(self) -> None:
        """Each session, once nothing runs in it, is anybody's."""
        while sessions := [session for session in self._sessions if session.kept is not None]:
            idle = [session for session in sessions if not session.handshake.busy]
            for session in idle:  # nothing begins in it from now on
                self._sessions.forget(session)
                self._leaving.add(session.handshake.key)
            await asyncio.gather(*(self._hand_over(session) for session in idle))
            await asyncio.sleep(0 if idle else BUSY_STEP)

    async def _hand_over(self, session: HttpSession) -> None:
        assert session.kept is not None
        await session.kept.hand_over()
        session.close()
        self._leaving.discard(session.handshake.key)

    async def close(self) -> None:
        for task in (self._renewing, self._reclaiming):
            if task is not None:
                task.cancel()
        kept = [session.kept for session in self._sessions if session.kept is not None]
        await asyncio.gather(*(session.hand_over() for session in kept))


async def _go_through_again(session: HttpSession, record: SessionRecord) -> None:
    handshake = session.handshake
    await handshake.answer(RpcRequest("takeover", "initialize", record.opening))
    if not record.ready:
        return
    await handshake.hear(Notification(INITIALIZED, {}))
    for request in record.requests():
        await handshake.answer(request)
    if handshake.revision.list_changed:
        for spelling in {spelling.changed for spelling in SPELLED.values()}:
            handshake.notify(spelling, {})
