"""A store that is this process's own memory. It is never away, and ends with the process."""

from __future__ import annotations

import asyncio
import os
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import monotonic

from toolyard.store.interface import (
    Allowance,
    Cap,
    Event,
    Lease,
    LeaseLost,
    Rate,
    Record,
    StoreCondition,
    check_tag,
)


@dataclass(slots=True)
class _Stream:
    until: float = 0.0
    last: int = 0
    events: deque[Event] = field(default_factory=deque)


@dataclass(slots=True)
class _Bucket:
    left: float
    at: float


class MemoryStore:
    def __init__(self) -> None:
        self._records: dict[str, tuple[Record, float]] = {}
        self._leases: dict[str, Lease] = {}
        self._streams: dict[str, _Stream] = {}
        self._buckets: dict[str, _Bucket] = {}
        self._seats: dict[str, dict[str, tuple[int, float]]] = {}
        self._groups: dict[str, dict[str, tuple[bytes, float]]] = {}
        self._news: dict[str, asyncio.Event] = {}
        self._fence = 0
        self.condition = StoreCondition("memory", True, time.time())

    def on_return(self, callback: Callable[[], None]) -> None:
        """It is never away."""

    async def close(self) -> None:
        """Nothing is held open."""

    # -- records -----------------------------------------------------------------------

    async def read(self, *names: str) -> list[Record | None]:
        return [self._record(name) for name in names]

    async def write(
        self,
        name: str,
        value: bytes,
        seconds: float,
        *,
        version: bytes | None = None,
        lease: Lease | None = None,
    ) -> bytes | None:
        if not self._may_change(name, version, lease):
            return None
        record = Record(value, os.urandom(8))
        self._records[name] = (record, monotonic() + seconds)
        return record.version

    async def erase(
        self, name: str, *, version: bytes | None = None, lease: Lease | None = None
    ) -> bool:
        there = self._record(name) is not None
        if not there or not self._may_change(name, version, lease):
            return False
        del self._records[name]
        return True

    def _record(self, name: str) -> Record | None:
        record, until = self._records.get(name, (None, 0.0))
        if record is not None and until <= monotonic():
            del self._records[name]
            return None
        return record

    def _may_change(self, name: str, version: bytes | None, lease: Lease | None) -> bool:
        self._check(name, lease)
        record = self._record(name)
        return version is None or version == (record.version if record is not None else b"")

    # -- leases ------------------------------------------------------------------------

    async def take(self, name: str, holder: str, seconds: float) -> Lease | None:
        current = self._current(name)
        if current is not None and current.holder != holder:
            return None
        if current is None:
            self._fence += 1
        fence = self._fence if current is None else current.fence
        lease = self._leases[name] = Lease(name, holder, fence, monotonic() + seconds)
        return lease

    async def renew(self, leases: Sequence[Lease], seconds: float) -> list[Lease | None]:
        return [self._renewed(lease, seconds) for lease in leases]

    def _renewed(self, lease: Lease, seconds: float) -> Lease | None:
        if self._current(lease.name) != lease:
            return None
        renewed = Lease(lease.name, lease.holder, lease.fence, monotonic() + seconds)
        self._leases[lease.name] = renewed
        return renewed

    async def release(self, lease: Lease) -> bool:
        held = self._current(lease.name) == lease
        if held:
            del self._leases[lease.name]
        return held

    async def held(self, name: str) -> Lease | None:
        current = self._current(name)
        return replace(current, until=0.0) if current is not None else None

    def _current(self, name: str) -> Lease | None:
        lease = self._leases.get(name)
        return lease if lease is not None and lease.valid() else None

    def _check(self, name: str, lease: Lease | None) -> None:
        check_tag(name, lease)
        if lease is not None and self._current(lease.name) != lease:
            raise LeaseLost(f"the lease {lease.name} is not held by {lease.holder} any more")

    # -- streams -----------------------------------------------------------------------

    async def append(
        self,
        name: str,
        events: Sequence[Event],
        cap: Cap,
        *,
        oldest: int = 0,
        lease: Lease | None = None,
    ) -> None:
        self._check(name, lease)
        stream = self._streams[name] = self._stream(name)
        for event in events:
            if event.number > stream.last:
                stream.events.append(event)
                stream.last = event.number
        while len(stream.events) > cap.events or (
            stream.events and stream.events[0].number < oldest
        ):
            stream.events.popleft()
        stream.until = monotonic() + cap.seconds
        news = self._news.pop(name, None)
        if news is not None:
            news.set()

    async def events(self, name: str, after: int, wait: float = 0) -> list[Event]:
        until = monotonic() + wait
        while not (later := [one for one in self._stream(name).events if one.number > after]):
            news = self._news.setdefault(name, asyncio.Event())
            try:
                async with asyncio.timeout(max(0.0, until - monotonic())):
                    await news.wait()
            except TimeoutError:
                return []
        return later

    def _stream(self, name: str) -> _Stream:
        stream = self._streams.get(name)
        if stream is not None and stream.until <= monotonic():
            del self._streams[name]
            stream = None
        return stream or _Stream()

    # -- allowances --------------------------------------------------------------------

    async def allow(self, name: str, rate: Rate, wanted: int) -> Allowance:
        bucket = self._filled(name, rate)
        granted = min(wanted, int(bucket.left))
        bucket.left -= granted
        wait = 0.0 if granted else (1 - bucket.left) * rate.seconds / rate.most
        return Allowance(granted, wait)

    async def give_back(self, name: str, rate: Rate, unused: int) -> None:
        bucket = self._filled(name, rate)
        bucket.left = min(float(rate.most), bucket.left + unused)

    def _filled(self, name: str, rate: Rate) -> _Bucket:
        now = monotonic()
        bucket = self._buckets.setdefault(name, _Bucket(float(rate.most), now))
        gained = (now - bucket.at) * rate.most / rate.seconds
        bucket.left, bucket.at = min(float(rate.most), bucket.left + gained), now
        return bucket

    async def occupy(
        self, name: str, holder: str, wanted: int, *, most: int, seconds: float
    ) -> int:
        now = monotonic()
        seats = {who: has for who, has in self._seats.get(name, {}).items() if has[1] > now}
        own = seats.pop(holder, (0, 0.0))[0]
        left = most - sum(count for count, _ in seats.values())
        has = min(wanted, max(own, left))
        self._seats[name] = {**seats, holder: (has, now + seconds)} if has else seats
        return has

    # -- groups ------------------------------------------------------------------------

    async def join(self, group: str, member: str, value: bytes, seconds: float) -> None:
        self._groups.setdefault(group, {})[member] = (value, monotonic() + seconds)

    async def leave(self, group: str, member: str) -> None:
        self._groups.get(group, {}).pop(member, None)

    async def members(self, group: str) -> Mapping[str, bytes]:
        now = monotonic()
        members = self._groups.get(group, {})
        self._groups[group] = {who: has for who, has in members.items() if has[1] > now}
        return {member: value for member, (value, _) in self._groups[group].items()}
