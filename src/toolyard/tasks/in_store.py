"""Records of tasks in a store, shared by all the replicas that serve the same thing.

    task:{ID}             the record, sealed: only a holder of the cluster key can read it
    tasks:CALLER          a group: what counts of each of the caller's tasks, and its summary
    task-callers          a group: who has tasks
    task-owner:PROCESS    a lease: held while the process lives, from before its first record
    task-notes:PROCESS    a group: what others have to say to the tasks of that process

A record is written where it is still as it was read, and one that is over stays as it is: of the
owner that ends a task and the replica that takes the owner for dead, one is first. After an
absence, its own or the store's, an owner writes all its tasks again: what the store has lost is
there again, and what others have given up meanwhile is over, so that its work is ended. A store
that has just come back may have lost the leases, too: nobody is taken for dead, and no record for
lost, until all have had the time to write theirs again.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import struct
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from time import monotonic
from weakref import WeakValueDictionary

from toolyard.protocol.codec import dumps, exact
from toolyard.protocol.tasks.record import TaskRecord
from toolyard.protocol.values import Json
from toolyard.store.interface import ABSENT, Lease, Record, Store, StoreError
from toolyard.store.seal import Seal, Unopened
from toolyard.tasks.records import Holdings, Note

LASTS, EXTENDED = 4.0, 1.0  # the lease of an owner, in seconds
NOTE_LASTS = 60.0
CALLERS = "task-callers"
_COUNTED = struct.Struct(">?Q")  # is it over, and its bytes
_SHORTEST = 0.05
NOT_BEGUN = "it could not be written down, and was not begun"
GIVEN_UP = "this server was away, and the task was given up"


class StoreRecords:
    """See the head of this module. The store is closed by whoever opened it."""

    def __init__(self, store: Store, seal: Seal, owner: str, longest: int) -> None:
        """`longest`: milliseconds that a task may be kept for."""
        self.owner = owner
        self._store = store
        self._seal = seal
        self._longest = longest / 1000
        self._lease: Lease | None = None
        self._extending: asyncio.Task[None] | None = None
        self._taking_lease = asyncio.Lock()
        # Two states of one task must not overtake each other.
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._latest: dict[str, TaskRecord] = {}  # of the tasks of this process
        self._was_away = False
        self._trusted_from = 0.0
        store.on_return(self._store_is_back)

    def _store_is_back(self) -> None:
        self._trusted_from = monotonic() + LASTS
        self._was_away = True

    # -- owners ------------------------------------------------------------------------

    async def is_alive(self, owner: str) -> bool:
        if owner == self.owner or monotonic() < self._trusted_from:
            return True
        with _as_os_error():
            return await self._store.held(_lease_of(owner)) is not None

    async def _take_lease(self) -> None:
        async with self._taking_lease:
            if self._extending is not None:
                return
            self._lease = await self._store.take(_lease_of(self.owner), self.owner, LASTS)
            self._extending = asyncio.create_task(self._extend())

    async def _extend(self) -> None:
        while True:
            await asyncio.sleep(EXTENDED)
            try:
                await self._extend_once()
            except StoreError:
                continue  # nobody can take us for dead without the store

    async def _extend_once(self) -> None:
        if self._lease is not None:
            (self._lease,) = await self._store.renew([self._lease], LASTS)
        if self._lease is None:
            self._lease = await self._store.take(_lease_of(self.owner), self.owner, LASTS)
            self._was_away = True

    # -- records -----------------------------------------------------------------------

    async def holdings(self, caller: str) -> Holdings:
        with _as_os_error():
            members = await self._store.members(_group_of(caller))
        counted = [_COUNTED.unpack_from(value) for value in members.values()]
        running = sum(not over for over, _ in counted)
        return Holdings(running, len(counted), sum(size for _, size in counted))

    async def write(self, record: TaskRecord) -> bool:
        if record.id in self._latest:
            self._latest[record.id] = record
        try:
            with _as_os_error():
                return await self._put_in_turn(record)
        except OSError:
            if record.owner == self.owner:
                # The store may have it all the same, and then nobody would ever end it.
                self._latest.setdefault(record.id, record.cancelled(_now(), NOT_BEGUN))
            raise

    async def _put_in_turn(self, record: TaskRecord) -> bool:
        async with self._turns.setdefault(record.id, asyncio.Lock()):
            if record.owner == self.owner:
                await self._take_lease()
            is_kept = await self._put(record)
        if record.over:
            self._latest.pop(record.id, None)
        elif record.owner == self.owner:
            self._latest.setdefault(record.id, record)
        return is_kept

    async def _put(self, record: TaskRecord) -> bool:
        name, value = _name_of(record.id), self._sealed(_name_of(record.id), record.as_json())
        while True:
            (entry,) = await self._store.read(name)
            present = self._opened(record.id, entry)
            if present is not None and present.over:
                await self._count(present, len(entry.value) if entry is not None else 0)
                return False
            version = ABSENT if entry is None else entry.version
            if await self._store.write(name, value, _left(record), version=version) is not None:
                await self._count(record, len(value))
                return True

    async def _count(self, record: TaskRecord, size: int) -> None:
        group = _group_of(record.caller)
        summary = self._sealed(group, record.as_json()[0])
        value = _COUNTED.pack(record.over, size) + summary
        await asyncio.gather(
            self._store.join(group, record.id, value, _left(record)),
            self._store.join(CALLERS, record.caller, b"", self._longest),
        )

    async def read(self, task_id: str) -> TaskRecord | None:
        with _as_os_error():
            (entry,) = await self._store.read(_name_of(task_id))
        if entry is None and monotonic() < self._trusted_from:
            raise OSError("the store has come back, perhaps without what it had")
        record = self._opened(task_id, entry)
        return record if record is not None and record.expires > _now() else None

    async def summaries(self, caller: str | None = None) -> list[TaskRecord]:
        with _as_os_error():
            callers = await self._store.members(CALLERS) if caller is None else (caller,)
            groups = [_group_of(name) for name in callers]
            members = await asyncio.gather(*map(self._store.members, groups))
        records = [
            record
            for group, values in zip(groups, members, strict=True)
            for record in self._listed(group, values)
        ]
        return sorted(records, key=lambda record: (-record.created, record.id))

    def _listed(self, group: str, values: Mapping[str, bytes]) -> Iterator[TaskRecord]:
        for value in values.values():
            summary = self._unsealed(group, value[_COUNTED.size :])
            if summary is not None and (record := TaskRecord.of(summary)).expires > _now():
                yield record

    def _opened(self, task_id: str, entry: Record | None) -> TaskRecord | None:
        parts = None if entry is None else self._unsealed(_name_of(task_id), entry.value)
        return None if parts is None else TaskRecord.of({**parts[0], **parts[1]})

    def _sealed(self, name: str, value: Json) -> bytes:
        return self._seal.close(dumps(value), name.encode())

    def _unsealed(self, name: str, value: bytes) -> Json:
        """None where it was sealed with a key that we do not have."""
        try:
            return exact(self._seal.open(value, name.encode()))
        except Unopened:
            return None

    # -- notes -------------------------------------------------------------------------

    async def leave(self, note: Note, owner: str) -> None:
        box = _box_of(owner)
        # In the order in which they were left.
        member = f"{time.time_ns():020}-{os.urandom(4).hex()}"
        with _as_os_error():
            await self._store.join(box, member, self._sealed(box, list(note)), NOTE_LASTS)

    async def collect(self, task_ids: Sequence[str]) -> list[Note]:
        box, own = _box_of(self.owner), frozenset(task_ids)
        given_up = await self._given_up() if self._was_away else []
        with _as_os_error():
            members = await self._store.members(box)
        # What cannot be removed now is given twice, and does no harm the second time.
        removals = (self._store.leave(box, member) for member in members)
        await asyncio.gather(*removals, return_exceptions=True)
        notes = [self._unsealed(box, members[member]) for member in sorted(members)]
        return [Note(*note) for note in notes if note is not None and note[0] in own] + given_up

    async def _given_up(self) -> list[Note]:
        """Write all again. Others were right to end what is over by now: its work must end."""
        self._was_away = False
        try:
            over = [r.id for r in tuple(self._latest.values()) if not await self.write(r)]
        except OSError:
            self._was_away = True
            raise
        return [Note(task_id, {"cancel": GIVEN_UP}) for task_id in over]

    async def close(self) -> None:
        if self._extending is not None:
            self._extending.cancel()
            await asyncio.gather(self._extending, return_exceptions=True)
        try:
            if self._lease is not None:
                await self._store.release(self._lease)
        except StoreError:
            pass  # it ends by itself


@contextmanager
def _as_os_error() -> Iterator[None]:
    try:
        yield
    except StoreError as error:
        raise OSError(str(error)) from error


def _name_of(task_id: str) -> str:
    return f"task:{{{task_id}}}"


def _group_of(caller: str) -> str:
    return f"tasks:{hashlib.sha256(caller.encode('utf-8', 'replace')).hexdigest()}"


def _lease_of(owner: str) -> str:
    return f"task-owner:{owner}"


def _box_of(owner: str) -> str:
    return f"task-notes:{owner}"


def _left(record: TaskRecord) -> float:
    return max(_SHORTEST, (record.expires - _now()) / 1000)


def _now() -> int:
    return int(time.time() * 1000)
