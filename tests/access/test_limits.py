"""Limits by themselves: what is counted, in one process, on one machine and through a store."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack
from functools import partial
from typing import cast

import pytest

from tests.peers.redis import RedisServer, needs_redis, redis_server
from tests.until import until
from toolyard.access.limits.cluster import ClusterMeter, ClusterSeats
from toolyard.access.limits.limit import Limit, read_limits
from toolyard.access.limits.limited import CallLimits
from toolyard.access.limits.meters import OwnMeter, OwnSeats
from toolyard.errors import ConfigError, ToolError
from toolyard.protocol.call import Call, Caller, Channel, JsonObject, Result
from toolyard.protocol.revisions import LATEST
from toolyard.store.interface import Store
from toolyard.store.machine import MachineCounts
from toolyard.store.opening import open_store

ADA, EVE = Caller("ada", "Ada"), Caller("eve", "Eve")
HOUR = 3600.0
NO_CHANNEL = cast(Channel, None)  # nobody reports anything
# An hour: none comes back while a test runs.
SIXTY = read_limits([{"calls": 60, "seconds": HOUR}], "f")
FOUR_AT_ONCE = read_limits([{"concurrent": 4}], "f")


def call(method: str = "tools/call", caller: Caller = ADA, **params: str) -> Call:
    return Call(method, params, LATEST, caller=caller)


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


# -- in one process ------------------------------------------------------------------------


async def test_a_limit_is_counted_for_each_caller_and_fills_again_with_time() -> None:
    clock = Clock()
    limits = CallLimits(read_limits([{"calls": 2, "seconds": 10}], "f"), OwnMeter(clock))
    assert [await limits.wait(call("tools/list")) for _ in range(3)] == [0, 0, 5]
    assert await limits.wait(call("tools/list", EVE)) == 0
    clock.now = 5
    assert [await limits.wait(call("tools/list")) for _ in range(2)] == [0, 5]
    clock.now = 1000
    assert [await limits.wait(call("ping")) for _ in range(3)] == [0, 0, 5]


async def test_a_limit_over_some_tools_leaves_the_others_alone() -> None:
    entry: JsonObject = {"calls": 1, "seconds": 10, "tools": ["set_*"]}
    limits = CallLimits(read_limits([entry], "f"), OwnMeter(Clock()))
    slow, quick = call(name="set_a"), call(name="get_a")
    assert [await limits.wait(slow), await limits.wait(slow)] == [0, 10]
    assert [await limits.wait(one) for one in (quick, quick, call("tools/list"))] == [0, 0, 0]


async def test_a_call_that_one_limit_refuses_uses_up_no_other() -> None:
    entries: list[JsonObject] = [
        {"calls": 1, "seconds": 10, "tools": ["a"]},
        {"calls": 2, "seconds": 10},
    ]
    limits = CallLimits(read_limits(entries, "f"), OwnMeter(Clock()))
    assert [await limits.wait(call(name="a")) for _ in range(3)] == [0, 10, 10]
    assert await limits.wait(call(name="b")) == 0


@pytest.mark.parametrize(
    "entry",
    [{}, {"calls": 0}, {"calls": 1, "seconds": 0}, {"call": 1}, {"concurrent": 0}, {"seconds": 1}],
)
def test_a_mistake_in_a_limit_is_named(entry: JsonObject) -> None:
    with pytest.raises(ConfigError, match="f#/limits/0"):
        read_limits([entry], "f")


class Work:
    """A handler whose calls run until they are let go."""

    def __init__(self) -> None:
        self.running = 0
        self.most = 0
        self.go = asyncio.Event()

    async def __call__(self, _call: Call, _channel: Channel) -> Result:
        self.running += 1
        self.most = max(self.most, self.running)
        try:
            await self.go.wait()
        finally:
            self.running -= 1
        return {}


async def all_of(
    limits: list[CallLimits], work: Work, each: int = 3, method: str = "tools/call"
) -> list[str]:
    """What becomes of calls that are all made at once; empty: it was done."""
    tasks = [asyncio.create_task(made(one, work, method)) for one in limits for _ in range(each)]
    await until(lambda: work.running + sum(task.done() for task in tasks) == len(tasks))
    work.go.set()
    outcomes = list(await asyncio.gather(*tasks))
    work.go.clear()
    return outcomes


async def made(limits: CallLimits, work: Work, method: str = "tools/call") -> str:
    try:
        await limits.over(work)(call(method), NO_CHANNEL)
    except ToolError as error:
        return error.message
    return ""


async def test_no_more_calls_run_at_once_than_a_limit_says() -> None:
    limits, work = CallLimits(FOUR_AT_ONCE), Work()
    outcomes = await all_of([limits], work, each=6)
    assert sorted(outcomes) == [
        "",
        "",
        "",
        "",
        *["Too many calls at once: 4 are running, and no more may"] * 2,
    ]
    assert await all_of([limits], work, each=4) == [""] * 4  # each has left its seat
    assert await all_of([limits], work, each=9, method="tools/list") == [""] * 9


# -- among the workers of a machine --------------------------------------------------------


async def test_workers_count_in_one_memory_and_an_ended_one_holds_no_seat() -> None:
    counts = MachineCounts(2)
    workers = [counts.of(0), counts.of(1)]
    ones = [CallLimits(SIXTY, worker, worker) for worker in workers]
    allowed = [await one.wait(call()) == 0 for _ in range(40) for one in ones]
    assert sum(allowed) == 60
    assert await ones[0].wait(call(caller=EVE)) == 0
    seats = [CallLimits(FOUR_AT_ONCE, worker, worker) for worker in workers]
    work = Work()
    assert (await all_of(seats, work)).count("") == work.most == 4
    held = [asyncio.create_task(made(seats[0], work)) for _ in range(4)]
    await until(lambda: work.running == 4)
    assert "at once" in await made(seats[1], work)
    counts.ended(0)
    work.go.set()
    assert await made(seats[1], work) == ""
    await asyncio.gather(*held)


def test_forked_processes_share_the_counts_and_lose_none() -> None:
    counts = MachineCounts(3)
    limit = read_limits([{"calls": 5000, "seconds": 1_000_000}], "f")
    children = [forked(partial(spend, counts, limit, n)) for n in range(3)]
    granted = sum(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in children)
    assert granted == 240  # of 3 times 80
    left = asyncio.run(CallLimits(limit, counts.of(0)).wait(call()))
    assert left == 0


def spend(counts: MachineCounts, limit: tuple[Limit, ...], worker: int) -> int:
    async def spent() -> int:
        limits = CallLimits(limit, counts.of(worker))
        return sum([await limits.wait(call()) == 0 for _ in range(80)])

    return asyncio.run(spent())


def forked(work: Callable[[], int]) -> int:
    pid = os.fork()
    if not pid:
        os._exit(work())
    return pid


# -- through a store -----------------------------------------------------------------------


@pytest.fixture(scope="module")
def redis() -> Iterator[RedisServer]:
    with redis_server() as server:
        yield server


@pytest.fixture
async def stores(redis: RedisServer) -> AsyncIterator[list[Store]]:
    """Of three processes."""
    redis.ask("FLUSHALL")
    async with AsyncExitStack() as stack:
        stores = [await open_store(redis.url) for _ in range(3)]
        for store in stores:
            stack.push_async_callback(store.close)
        yield stores


@needs_redis
async def test_a_limit_holds_over_all_processes_and_calls_cost_few_trips(
    redis: RedisServer, stores: list[Store]
) -> None:
    many = read_limits([{"calls": 900, "seconds": HOUR}], "f")
    meters = [ClusterMeter(store, OwnMeter()) for store in stores]
    ones = [CallLimits(many, meter) for meter in meters]
    before = redis.commands()
    allowed = [await one.wait(call()) == 0 for _ in range(600) for one in ones]
    assert sum(allowed) == 900
    # A script and what it does: 900 calls by thirties, and hardly any for the 900 refused.
    assert redis.commands() - before < 900 / 30 * 5 + 20
    for meter in meters:
        await meter.close()


@needs_redis
async def test_what_a_process_does_not_use_the_others_get(stores: list[Store]) -> None:
    meters = [ClusterMeter(store, OwnMeter()) for store in stores]
    ones = [CallLimits(SIXTY, meter) for meter in meters]
    for one in ones:
        assert await one.wait(call()) == 0  # each has one more at hand
    await until(lambda: not any(purse.left for meter in meters for purse in meter._purses.values()))
    assert sum([await ones[0].wait(call()) == 0 for _ in range(60)]) == 57
    for meter in meters:
        await meter.close()


@needs_redis
async def test_seats_are_shared_and_those_of_a_process_that_is_gone_are_free_again(
    stores: list[Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toolyard.access.limits.cluster.LASTS", 0.3)
    monkeypatch.setattr("toolyard.access.limits.cluster.EXTENDED", 0.1)
    seats = [ClusterSeats(store, OwnSeats()) for store in stores]
    ones = [CallLimits(FOUR_AT_ONCE, OwnMeter(), one) for one in seats]
    work = Work()
    assert (await all_of(ones, work)).count("") == work.most == 4
    held = [asyncio.create_task(made(ones[0], work)) for _ in range(4)]
    await until(lambda: work.running == 4)
    await asyncio.sleep(0.5)  # longer than seats last without being extended
    assert "at once" in await made(ones[1], work)
    await stores[0].close()  # as if it were killed
    work.go.set()
    assert await until(lambda: succeeds(ones[1], work))
    await asyncio.gather(*held)
    for one in seats:
        await one.close()


async def succeeds(limits: CallLimits, work: Work) -> bool:
    return await made(limits, work) == ""


@needs_redis
async def test_one_call_after_the_other_is_never_too_many_at_once(stores: list[Store]) -> None:
    one_at_a_time = read_limits([{"concurrent": 1}], "f")
    seats = [ClusterSeats(store, OwnSeats()) for store in stores]
    work = Work()
    work.go.set()
    for number in range(60):
        limits = CallLimits(one_at_a_time, OwnMeter(), seats[number % 3])
        assert await made(limits, work) == ""
    for one in seats:
        await one.close()


@needs_redis
async def test_while_the_store_is_away_each_machine_counts_by_itself() -> None:
    with redis_server() as server:
        store = await open_store(server.url)
        meter, seats = ClusterMeter(store, OwnMeter()), ClusterSeats(store, OwnSeats())
        limits, work = CallLimits(SIXTY, meter, seats), Work()
        server.kill()
        assert sum([await limits.wait(call()) == 0 for _ in range(100)]) == 60
        at_once = CallLimits(FOUR_AT_ONCE, meter, seats)
        assert (await all_of([at_once], work, each=6)).count("") == 4
        server.start()
        await until(lambda: store.condition.reachable)
        assert sum([await limits.wait(call()) == 0 for _ in range(100)]) == 60
        await meter.close()
        await seats.close()
        await store.close()
