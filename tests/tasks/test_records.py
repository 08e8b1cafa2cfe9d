"""What is kept of tasks is the same wherever it is kept: in a file, or in a store."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from tests.peers.redis import needs_redis, redis_server
from tests.until import until
from toolyard.protocol.tasks.record import TaskRecord
from toolyard.store.interface import Store
from toolyard.store.keys import ClusterKeys
from toolyard.store.memory import MemoryStore
from toolyard.store.opening import open_store
from toolyard.tasks.in_store import StoreRecords
from toolyard.tasks.records import Note, TaskRecords
from toolyard.tasks.sqlite import SqliteRecords

KEYS = ClusterKeys((b"k" * 32,))
DAY = 86_400_000
KINDS = ("sqlite", "memory", pytest.param("redis", marks=needs_redis))


class Opening:
    """Makes the records of one more process, and ends those that are left."""

    def __init__(self, make: Callable[[], TaskRecords]) -> None:
        self._make = make
        self._made: list[TaskRecords] = []

    def __call__(self) -> TaskRecords:
        self._made.append(self._make())
        return self._made[-1]

    async def end(self, records: TaskRecords) -> None:
        self._made.remove(records)
        await records.close()

    async def close(self) -> None:
        for records in tuple(self._made):
            await self.end(records)


@pytest.fixture(params=KINDS)
async def opening(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Opening]:
    async with AsyncExitStack() as stack:
        store: Store = MemoryStore()
        if request.param == "redis":
            store = await open_store(stack.enter_context(redis_server()).url)
            stack.push_async_callback(store.close)

        def made() -> TaskRecords:
            if request.param == "sqlite":
                return SqliteRecords(str(tmp_path))
            return StoreRecords(store, KEYS.seal("task"), os.urandom(8).hex(), DAY)

        opening = Opening(made)
        stack.push_async_callback(opening.close)
        yield opening


def record_of(
    records: TaskRecords, name: str, caller: str = "ann", ttl: int = 60_000
) -> TaskRecord:
    now = int(time.time() * 1000)
    return TaskRecord(name, caller, "build", now, now, ttl, 1000, owner=records.owner)


async def test_any_process_reads_a_record_whole_and_lists_it_without_what_is_large(
    opening: Opening,
) -> None:
    owner, other = opening(), opening()
    record = replace(record_of(owner, "one"), log=("a line",), progress=(1, None))
    assert await owner.write(record)
    assert await other.read("one") == record
    assert await other.read("another") is None
    (listed,) = await other.summaries("ann")
    assert (listed.id, listed.progress, listed.log) == ("one", (1, None), ())
    assert await other.summaries("bob") == []
    await owner.write(replace(record_of(owner, "two", "bob"), created=record.created + 1))
    assert [listed.id for listed in await other.summaries()] == ["two", "one"]


async def test_a_record_that_is_over_stays_as_it_is(opening: Opening) -> None:
    owner, other = opening(), opening()
    record = record_of(owner, "one")
    assert await owner.write(record)
    assert await other.write(record.cancelled(record.updated, "enough"))
    assert not await owner.write(record.completed({"content": []}, record.updated))
    assert not await owner.write(record)
    left = await owner.read("one")
    assert left is not None
    assert (left.status, left.message) == ("cancelled", "enough")
    assert [listed.status for listed in await owner.summaries("ann")] == ["cancelled"]


async def test_states_of_a_task_do_not_overtake_each_other(opening: Opening) -> None:
    owner = opening()
    for name in "abc":
        record = record_of(owner, name)
        long = replace(record, log=("x" * 5_000_000,))  # takes longer to write than the next
        states = [long, *(record.saying(f"step {n}", None, record.updated) for n in range(20))]
        await asyncio.gather(*map(owner.write, states))
        assert await owner.read(name) == states[-1]


async def test_a_caller_holds_its_own_tasks_and_those_that_run_are_told_apart(
    opening: Opening,
) -> None:
    owner, other = opening(), opening()
    first, second = record_of(owner, "one"), record_of(owner, "two")
    for record in (first, second, record_of(owner, "three", "bob")):
        await owner.write(record)
    await owner.write(second.completed({"text": "x" * 1000}, second.updated))
    holdings = await other.holdings("ann")
    assert (holdings.running, holdings.kept) == (1, 2)
    assert 1000 < holdings.size < 5000
    assert (await other.holdings("nobody")).kept == 0


async def test_a_record_is_forgotten_when_its_time_is_over(opening: Opening) -> None:
    owner = opening()
    record = record_of(owner, "one", ttl=150)
    await owner.write(record)
    await owner.write(record.completed({}, record.updated))
    await until(lambda: time.time() * 1000 > record.expires)
    assert await owner.read("one") is None
    assert await owner.summaries() == []
    # It goes by the store's clock, which began a little later.
    async with asyncio.timeout(10):
        while (await owner.holdings("ann")).kept:
            await asyncio.sleep(0.01)


async def test_notes_reach_the_process_that_runs_the_task_once_and_in_order(
    opening: Opening,
) -> None:
    owner, other, third = opening(), opening(), opening()
    await owner.write(record_of(owner, "one"))
    notes = [Note("one", {"answers": {"number": number}}) for number in range(5)]
    for note in notes:
        await other.leave(note, owner.owner)
    assert await third.collect(["two"]) == []
    assert await owner.collect(["one", "two"]) == notes
    assert await owner.collect(["one", "two"]) == []


async def test_a_process_that_has_written_a_record_is_alive_until_it_ends(
    opening: Opening,
) -> None:
    owner, other = opening(), opening()
    await owner.write(record_of(owner, "one"))
    assert await other.is_alive(owner.owner)
    assert await owner.is_alive(owner.owner)
    assert not await other.is_alive("somebody else")
    await opening.end(owner)
    assert not await other.is_alive(owner.owner)


async def test_whoever_reads_the_store_without_the_key_learns_nothing() -> None:
    store = MemoryStore()
    records = StoreRecords(store, KEYS.seal("task"), "here", DAY)
    record = record_of(records, "one")
    await records.write(record.completed({"text": "a secret"}, record.updated))
    (entry,) = await store.read("task:{one}")
    assert entry is not None
    assert b"secret" not in entry.value
    stranger = StoreRecords(store, ClusterKeys((b"s" * 32,)).seal("task"), "there", DAY)
    assert await stranger.read("one") is None
    assert await stranger.summaries() == []
    await records.close()
