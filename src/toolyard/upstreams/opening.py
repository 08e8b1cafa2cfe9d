"""Opens the connections to one upstream, and brings back those that are lost while wanted."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from time import monotonic

from toolyard.protocol.call import Caller
from toolyard.upstreams.background import Background
from toolyard.upstreams.condition import Condition
from toolyard.upstreams.conversation.roots import settle, wants_roots
from toolyard.upstreams.conversation.running import Owner
from toolyard.upstreams.conversation.session import UpstreamSession
from toolyard.upstreams.link.connect import CannotConnect, Connector
from toolyard.upstreams.link.link import Down, LinkError
from toolyard.upstreams.lists.records import Records
from toolyard.upstreams.lists.watch import ChangeWatch
from toolyard.upstreams.slot import Slot


class Opener:
    """Opens connections, and sees to everything else that follows from one opened or lost.

    `on_open` is called for each connection, `on_change` where the upstream may now list
    something else. `idle_stop`: how long an unused connection is still brought back.
    """

    def __init__(
        self,
        connector: Connector,
        condition: Condition,
        records: Records,
        *,
        idle_stop: float,
        on_change: Callable[[], None],
        on_open: Callable[[], None],
    ) -> None:
        self._connector = connector
        self._condition = condition
        self._records = records
        self._idle_stop = idle_stop
        self._on_change = on_change
        self._on_open = on_open
        self._shared_starts = 0
        self._stopped = False
        self._revivals = Background()
        self._closing = Background()  # awaited at the end, never cancelled

    @property
    def restarts(self) -> int:
        return max(0, self._shared_starts - 1)

    def diagnosis(self) -> str:
        return self._connector.diagnosis()

    def new_watch(self, caller: str, client: str) -> ChangeWatch:
        """For a connection of this caller's, to clients that can do this."""

        def lists_changed() -> None:
            self._records.stale(caller, client)
            self._on_change()

        return ChangeWatch(lists_changed)

    async def connect(self, owner: Owner, caller: Caller, slot: Slot) -> UpstreamSession:
        if self._stopped:
            raise Down("is being stopped")
        self._condition.refuse_while_down()
        try:
            session = await self._connector.connect(owner, caller, slot.watch.heard)
        except LinkError as error:
            stderr = error.diagnosis if isinstance(error, CannotConnect) else ""
            self._condition.could_not_connect(error, stderr)
            raise
        self._on_open()
        self._shared_starts += owner.shared
        session.when_lost(partial(self._lost, session, slot))
        was_down = self._condition.connected()
        slot.watch.attach(session)
        if wants_roots(session):
            settle(session)
        stale = owner.shared and self._records.stale(*slot.whose)
        if was_down or stale:
            self._on_change()  # it may list something other than what we know
        return session

    def _lost(self, session: UpstreamSession, slot: Slot, error: LinkError) -> None:
        if self._stopped:
            return
        self._condition.lost_connection(error, session.link.diagnosis())
        self._closing.start(session.close())
        if session.owner.shared or slot.watch.wanted:
            self._revivals.start(self._revive(slot))

    async def _revive(self, slot: Slot) -> None:
        """Bring a lost connection back while it is wanted."""
        while not self._stopped and self._is_wanted(slot):
            await asyncio.sleep(self._condition.retry_in())
            try:
                await slot.get()
                return
            except LinkError:
                continue

    def _is_wanted(self, slot: Slot) -> bool:
        if slot.watch.wanted:
            return True
        return slot.shared and monotonic() - slot.last_used < self._idle_stop

    def stop(self) -> None:
        """Open nothing any more, and bring nothing back."""
        self._stopped = True

    async def close(self) -> None:
        await self._revivals.cancel()
        await self._closing.finish()
