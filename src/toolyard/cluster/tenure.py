"""The right of this process to what it owns: a short lease in the store, renewed all the time.

What a process owns (a session) has a long lease in the name of a term; a term lasts as long as
this short lease is renewed. A term that was lost never comes back: the process begins another,
and moves what it still owns over to it, one by one. So whoever has seen that a term is over may
take what was owned in it, and nobody owns anything twice:

    held ──not renewed in time──> over ──another term──> held

While the store is away from everybody nothing can be taken, and a process goes on with what it
has. It asks the others whether the store is away from them too: one that is cut off alone stops.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from time import monotonic

from toolyard.store.interface import Lease, Store, StoreError
from toolyard.telemetry import logger

log = logger("peers")
FOR, EVERY = 1.5, 0.4
# A renewal that hangs leaves time to ask the others before the term is over.
ANSWER_WITHIN = 0.6
# Whoever has not renewed for so long does not reach the store, though it may not know it yet.
HEARD_WITHIN = 0.8
EXCUSED_FOR = 1.0


def lease_of(term: str) -> str:
    """Where it is seen whether a term lasts."""
    return f"term:{term}"


def process_of(term: str) -> str:
    return term.partition(".")[0]


class Tenure:
    def __init__(self, store: Store, name: str, all_cut_off: Callable[[], Awaitable[bool]]) -> None:
        """`all_cut_off`: is the store away from the other processes as well?"""
        self._store = store
        self._name = name
        self._all_cut_off = all_cut_off
        self._count = 0
        self._lease: Lease | None = None
        self._excused_until = 0.0
        self.term = f"{name}.0"

    def holds(self) -> bool:
        """May we answer for what we own?"""
        if self._lease is not None and self._lease.valid():
            return True
        return monotonic() < self._excused_until

    def hears_the_store(self) -> bool:
        lease = self._lease
        return lease is not None and monotonic() < lease.until - FOR + HEARD_WITHIN

    async def until_held(self) -> None:
        """Wait for the next term, if this one is over. Raises StoreError."""
        until = monotonic() + FOR
        while not self.holds():
            if monotonic() > until:
                raise StoreError("the store is away, and others may have taken what was ours")
            await asyncio.sleep(0.05)

    async def begin(self) -> None:
        """Raises StoreError."""
        self._count += 1
        term = f"{self._name}.{self._count}"
        self._lease = await self._store.take(lease_of(term), term, FOR)
        self.term = term

    async def keep(self) -> None:
        while True:
            try:
                async with asyncio.timeout(ANSWER_WITHIN):
                    await self._renew()
            except (StoreError, TimeoutError):
                await self._look_around()
            await asyncio.sleep(EVERY)

    async def _renew(self) -> None:
        if self._lease is not None:
            (renewed,) = await self._store.renew([self._lease], FOR)
            if renewed is not None:
                self._lease = renewed
                return
            log.warning("the lease of this process was lost: it takes a new one")
        await self.begin()

    async def _look_around(self) -> None:
        asked_at = monotonic()
        if await self._all_cut_off():
            self._excused_until = asked_at + EXCUSED_FOR

    async def end(self) -> None:
        lease, self._lease = self._lease, None
        try:
            if lease is not None:
                await self._store.release(lease)
        except StoreError:
            pass  # it runs out by itself
