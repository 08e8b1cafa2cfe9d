"""Allowances and seats among the workers of one machine, in memory that forked processes share.

Two tables, made before the first worker starts. A place in one is found by the digest of what is
counted there: the few places that a digest may have are looked through, and where none is left
the one that was used longest ago is given to the newcomer. The clock is the machine's own, so
that all workers read the same time.

    buckets   digest, level, time of that level
    seats     digest, and for each worker how many of its calls run; the supervisor clears the
              column of a worker that has ended

Who changes a table holds a lock of the system's, which a process that ends lets go of. A worker
that is stopped at that very moment holds nobody up: after a while it is done without the lock,
and at worst one call is not counted.
"""

from __future__ import annotations

import fcntl
import hashlib
import mmap
import os
import struct
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import TypeAlias

from toolyard.store.interface import Rate

Paced: TypeAlias = tuple[str, Rate]  # one of these, counted under that name
Seated: TypeAlias = tuple[str, int]  # one of so many seats of that name

BUCKETS, SEATS = 16_384, 4_096
PROBES = 16
LOCK_WITHIN = 0.01
_BUCKET = struct.Struct("=16sdd")
_DIGEST, _SEAT = 16, 4


class MachineCounts:
    """The tables. What they hold is gone with the supervisor."""

    def __init__(self, workers: int) -> None:
        self._row = struct.Struct(f"={_DIGEST}s{workers}I")
        self._buckets = mmap.mmap(-1, _BUCKET.size * BUCKETS)
        self._seats = mmap.mmap(-1, self._row.size * SEATS)
        self._lock_file, path = tempfile.mkstemp(prefix="toolyard-counts-")
        os.unlink(path)

    def of(self, worker: int) -> WorkerCounts:
        return WorkerCounts(self, worker)

    def ended(self, worker: int) -> None:
        """Nothing of this worker's runs any more."""
        column = _DIGEST + _SEAT * worker
        with self._alone():
            for place in range(0, self._row.size * SEATS, self._row.size):
                self._seats[place + column : place + column + _SEAT] = bytes(_SEAT)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        locked = self._lock()
        try:
            yield
        finally:
            if locked:
                fcntl.lockf(self._lock_file, fcntl.LOCK_UN)

    def _lock(self) -> bool:
        until = time.monotonic() + LOCK_WITHIN
        while True:
            try:
                fcntl.lockf(self._lock_file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                if time.monotonic() > until:
                    return False
            else:
                return True

    # -- how often ---------------------------------------------------------------------

    def take(self, needs: Sequence[Paced]) -> float:
        now = time.monotonic()
        with self._alone():
            places = [self._bucket(digest_of(need[0]), now) for need in needs]
            levels = [
                self._level(place, need, now) for place, need in zip(places, needs, strict=True)
            ]
            wait = max(map(_wait, levels, needs), default=0.0)
            if wait == 0:
                for place, level, need in zip(places, levels, needs, strict=True):
                    digest = digest_of(need[0])
                    _BUCKET.pack_into(self._buckets, place, digest, level - 1, now)
        return wait

    def _bucket(self, digest: bytes, now: float) -> int:
        oldest, age = 0, -1.0
        for place in _places(digest, BUCKETS, _BUCKET.size):
            kept, _, at = _BUCKET.unpack_from(self._buckets, place)
            if kept == digest:
                return place
            if now - at > age:
                oldest, age = place, now - at
        return oldest

    def _level(self, place: int, need: Paced, now: float) -> float:
        kept, level, at = _BUCKET.unpack_from(self._buckets, place)
        most, seconds = need[1]
        if kept != digest_of(need[0]):
            return float(most)
        refilled: float = level + (now - at) * most / seconds
        return min(float(most), refilled)

    # -- how many at once --------------------------------------------------------------

    def enter(self, needs: Sequence[Seated], worker: int) -> Sequence[int] | int:
        """The places where it was counted; or the limit that leaves no seat."""
        with self._alone():
            places = [self._seat(digest_of(need[0])) for need in needs]
            for place, need in zip(places, needs, strict=True):
                if sum(self._row.unpack_from(self._seats, place)[1:]) >= need[1]:
                    return need[1]
            for place, need in zip(places, needs, strict=True):
                kept, *running = self._row.unpack_from(self._seats, place)
                running[worker] += 1
                name = kept if sum(running) > 1 else digest_of(need[0])
                self._row.pack_into(self._seats, place, name, *running)
        return places

    def leave(self, places: Sequence[int], worker: int) -> None:
        with self._alone():
            for place in places:
                kept, *running = self._row.unpack_from(self._seats, place)
                running[worker] = max(0, running[worker] - 1)
                self._row.pack_into(self._seats, place, kept, *running)

    def _seat(self, digest: bytes) -> int:
        """Its own place, else one where nothing runs."""
        free = None
        for place in _places(digest, SEATS, self._row.size):
            kept, *running = self._row.unpack_from(self._seats, place)
            if kept == digest:
                return place
            if free is None and not any(running):
                free = place
        # All of them are in use by others: it is counted together with one of those.
        return next(_places(digest, SEATS, self._row.size)) if free is None else free


class WorkerCounts:
    """The tables as one worker uses them: a meter and seats."""

    def __init__(self, counts: MachineCounts, worker: int) -> None:
        self._counts = counts
        self._worker = worker

    async def close(self) -> None:
        """Nothing was taken ahead."""

    async def take(self, needs: Sequence[Paced]) -> float:
        return self._counts.take(needs)

    async def enter(self, needs: Sequence[Seated]) -> Callable[[], None] | int:
        outcome = self._counts.enter(needs, self._worker)
        if isinstance(outcome, int):
            return outcome
        return lambda: self._counts.leave(outcome, self._worker)


@lru_cache(maxsize=BUCKETS)
def digest_of(name: str) -> bytes:
    return hashlib.blake2b(name.encode(), digest_size=_DIGEST).digest()


def _places(digest: bytes, count: int, size: int) -> Iterator[int]:
    first = int.from_bytes(digest[:4], "big")
    return ((first + step) % count * size for step in range(PROBES))


def _wait(level: float, need: Paced) -> float:
    rate = need[1]
    return 0.0 if level >= 1 else (1 - level) * rate.seconds / rate.most
