"""Where calls are counted: what that takes, and the one that counts in this process alone.

A meter says how long a caller has to wait; seats say whether there is room for one more at the
same time. Both are given everything that one call needs at once: where one part is refused, the
call uses up nothing of the others.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from toolyard.store.interface import Rate

MAX_BUCKETS = 10_000


class Paced(NamedTuple):
    """One call is to be counted here."""

    name: str
    rate: Rate


class Seated(NamedTuple):
    """One call runs here, among so many at most."""

    name: str
    most: int


Leave = Callable[[], None]


class Meter(Protocol):
    async def take(self, needs: Sequence[Paced]) -> float:
        """Seconds until there is one of each; 0 when there is, and then it is taken."""

    async def close(self) -> None: ...


class Seats(Protocol):
    async def enter(self, needs: Sequence[Seated]) -> Leave | int:
        """How the seats are left again; where one was not to be had, of how many."""

    async def close(self) -> None: ...


@dataclass(slots=True)
class Bucket:
    """Fills evenly; each call takes one out of it."""

    level: float
    at: float

    def fill(self, rate: Rate, now: float) -> None:
        gained = (now - self.at) * rate.most / rate.seconds
        self.level, self.at = min(float(rate.most), self.level + gained), now

    def wait(self, rate: Rate) -> float:
        return 0.0 if self.level >= 1 else (1 - self.level) * rate.seconds / rate.most


class OwnMeter:
    """Counts the calls of this process."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._buckets: dict[str, Bucket] = {}
        self._longest = 0.0

    async def close(self) -> None:
        """Nothing was taken ahead."""

    async def take(self, needs: Sequence[Paced]) -> float:
        now = self._clock()
        buckets = [self._bucket(need, now) for need in needs]
        wait = max(
            (bucket.wait(need.rate) for bucket, need in zip(buckets, needs, strict=True)),
            default=0.0,
        )
        if wait == 0:
            for bucket in buckets:
                bucket.level -= 1
        return wait

    def _bucket(self, need: Paced, now: float) -> Bucket:
        bucket = self._buckets.get(need.name)
        if bucket is None:
            if len(self._buckets) >= MAX_BUCKETS:
                self._forget_full(now)
            bucket = self._buckets[need.name] = Bucket(float(need.rate.most), now)
            self._longest = max(self._longest, need.rate.seconds)
        bucket.fill(need.rate, now)
        return bucket

    def _forget_full(self, now: float) -> None:
        self._buckets = {k: b for k, b in self._buckets.items() if now - b.at < self._longest}


class OwnSeats:
    """Counts what runs in this process."""

    def __init__(self) -> None:
        self._taken: Counter[str] = Counter()

    async def close(self) -> None:
        """Nothing is kept."""

    async def enter(self, needs: Sequence[Seated]) -> Leave | int:
        for need in needs:
            if self._taken[need.name] >= need.most:
                return need.most
        for need in needs:
            self._taken[need.name] += 1
        return lambda: self._leave(needs)

    def _leave(self, needs: Sequence[Seated]) -> None:
        for need in needs:
            self._taken[need.name] -= 1
            if not self._taken[need.name]:
                del self._taken[need.name]
