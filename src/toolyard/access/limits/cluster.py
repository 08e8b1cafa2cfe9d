"""Count over all processes that share a store, with hardly a trip to it.

Allowances are taken in batches, at most a thirtieth of a limit at once, and used up without
asking; what a process has not used for a second it gives back. A refusal is remembered for as
long as the store says. So the store alone hands allowances out, the limit holds exactly, and
the most that can lie unused in some other process is a thirtieth for each.

Seats are kept for a while as well, where there are many: up to a sixteenth of them. They belong
to a process for some seconds, which it extends while it lives. Where there is none left, others
may just be about to give some back, so it is asked again for a moment.

While the store is away it is counted as if there were none: in this process, or among the
workers of this machine. A caller may then have its limit once on each machine, and no more.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from time import monotonic

from toolyard.access.limits.meters import Leave, Meter, Paced, Seated, Seats
from toolyard.store.interface import Rate, Store, StoreError

BATCHES, BIGGEST_BATCH = 30, 64
UNUSED = 1.0  # seconds after which allowances are given back
SPARE = 16  # of so many seats one may be kept unused
LASTS, EXTENDED = 9.0, 3.0
PAUSES = (0.0, 0.005, 0.01, 0.02, 0.05, 0.1)
MAX_PURSES = 10_000


@dataclass(slots=True, eq=False)
class _Purse:
    """Allowances at hand. Who asks the store for more holds the lock."""

    name: str
    rate: Rate
    left: int = 0
    none_before: float = 0.0
    used: float = 0.0
    waiting: int = 0
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    def wait(self) -> float:
        return 0.0 if self.left else max(0.0, self.none_before - monotonic())


class ClusterMeter:
    def __init__(self, store: Store, alone: Meter) -> None:
        self._store = store
        self._alone = alone  # while the store is away
        self._purses: dict[str, _Purse] = {}
        self._giving_back: asyncio.Task[None] | None = None

    async def take(self, needs: Sequence[Paced]) -> float:
        purses = [self._purse(need) for need in needs]
        while empty := [purse for purse in purses if not purse.left]:
            wait = max(purse.wait() for purse in empty)
            if wait:
                return wait
            try:
                for purse in empty:
                    await self._fill(purse)
            except StoreError:
                return await self._alone.take(needs)
        now = monotonic()
        for purse in purses:
            purse.left -= 1
            purse.used = now
        return 0.0

    def _purse(self, need: Paced) -> _Purse:
        purse = self._purses.get(need.name)
        if purse is None:
            if len(self._purses) >= MAX_PURSES:
                self._forget_idle()
            purse = self._purses[need.name] = _Purse(f"calls:{_hidden(need.name)}", need.rate)
        return purse

    def _forget_idle(self) -> None:
        now = monotonic()
        self._purses = {
            name: purse
            for name, purse in self._purses.items()
            if purse.left or purse.waiting or now - purse.used < purse.rate.seconds
        }

    async def _fill(self, purse: _Purse) -> None:
        purse.waiting += 1
        try:
            async with purse.lock:
                if purse.left or purse.wait():
                    return  # somebody else has asked meanwhile
                batch = min(BIGGEST_BATCH, purse.rate.most // BATCHES)
                wanted = max(batch, purse.waiting)
                allowance = await self._store.allow(purse.name, purse.rate, wanted)
                purse.left, purse.used = allowance.granted, monotonic()
                purse.none_before = purse.used + allowance.wait
        finally:
            purse.waiting -= 1
        if purse.left and self._giving_back is None:
            self._giving_back = asyncio.create_task(self._give_back())

    async def _give_back(self) -> None:
        """While there is something at hand, what is not used is given back."""
        try:
            while any(purse.left for purse in self._purses.values()):
                await asyncio.sleep(UNUSED)
                before = monotonic() - UNUSED
                await self._return(p for p in self._purses.values() if p.used <= before)
        finally:
            self._giving_back = None

    async def _return(self, purses: Iterable[_Purse]) -> None:
        for purse in [purse for purse in purses if purse.left]:
            unused, purse.left = purse.left, 0
            try:
                await self._store.give_back(purse.name, purse.rate, unused)
            except StoreError:
                pass  # they fill again with time

    async def close(self) -> None:
        if self._giving_back is not None:
            self._giving_back.cancel()
            await asyncio.gather(self._giving_back, return_exceptions=True)
        await self._return(self._purses.values())


@dataclass(slots=True, eq=False)
class _Bench:
    """The seats of this process under one name. Who asks the store holds the lock."""

    name: str
    most: int
    seats: int = 0  # that are ours
    taken: int = 0
    waiting: int = 0
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def spare(self) -> int:
        return self.most // SPARE


class ClusterSeats:
    def __init__(self, store: Store, alone: Seats) -> None:
        self._store = store
        self._alone = alone  # while the store is away
        self._holder = os.urandom(8).hex()
        self._benches: dict[str, _Bench] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._extending: asyncio.Task[None] | None = None

    async def enter(self, needs: Sequence[Seated]) -> Leave | int:
        taken: list[_Bench] = []
        try:
            for need in needs:
                bench = self._bench(need)
                if not await self._sit(bench):
                    self._leave(taken)
                    return need.most
                taken.append(bench)
        except StoreError:
            self._leave(taken)
            return await self._alone.enter(needs)
        except BaseException:
            self._leave(taken)
            raise
        return lambda: self._leave(taken)

    def _bench(self, need: Seated) -> _Bench:
        bench = self._benches.get(need.name)
        if bench is None:
            bench = self._benches[need.name] = _Bench(f"seats:{_hidden(need.name)}", need.most)
        return bench

    async def _sit(self, bench: _Bench) -> bool:
        bench.waiting += 1
        try:
            for pause in PAUSES:
                if pause:
                    await asyncio.sleep(pause)
                if await self._has_room(bench):
                    bench.taken += 1
                    break
            else:
                return False
        finally:
            bench.waiting -= 1
        if self._extending is None:
            self._extending = asyncio.create_task(self._extend())
        return True

    async def _has_room(self, bench: _Bench) -> bool:
        if bench.taken >= bench.seats:
            async with bench.lock:
                if bench.taken >= bench.seats:
                    await self._occupy(bench, bench.taken + bench.waiting + bench.spare)
        return bench.taken < bench.seats

    async def _occupy(self, bench: _Bench, wanted: int) -> None:
        # What is not wanted any more is not given to anybody while it is being said.
        bench.seats = min(bench.seats, wanted)
        bench.seats = await self._store.occupy(
            bench.name, self._holder, wanted, most=bench.most, seconds=LASTS
        )

    def _leave(self, benches: Sequence[_Bench]) -> None:
        for bench in benches:
            bench.taken -= 1
            if bench.seats - bench.taken > 2 * bench.spare:
                task = asyncio.create_task(self._shrink(bench))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)

    async def _shrink(self, bench: _Bench) -> None:
        async with bench.lock:
            if bench.seats - bench.taken > 2 * bench.spare:
                await self._say(bench, bench.taken + bench.spare)

    async def _extend(self) -> None:
        """Keep what is taken, for as long as something is; what is not taken goes back."""
        try:
            while self._benches:
                await asyncio.sleep(EXTENDED)
                for name, bench in tuple(self._benches.items()):
                    async with bench.lock:
                        await self._say(bench, bench.taken)
                        if not bench.taken and not bench.waiting:
                            self._benches.pop(name, None)
        finally:
            self._extending = None

    async def _say(self, bench: _Bench, wanted: int) -> None:
        try:
            await self._occupy(bench, wanted)
        except StoreError:
            pass  # they are forgotten there; it is said again while any is taken

    async def close(self) -> None:
        tasks = [*self._tasks, *([self._extending] if self._extending else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for bench in self._benches.values():
            await self._say(bench, 0)


def _hidden(name: str) -> str:
    """The store need not know who calls."""
    return hashlib.sha256(name.encode()).hexdigest()[:32]
