"""What every store does alike: records, leases, streams, allowances, groups."""

from __future__ import annotations

import asyncio

import pytest

from tests.until import WITHIN, until
from toolyard.store.interface import ABSENT, Cap, Event, Lease, LeaseLost, Rate, Store

LONG = 60.0
SHORT = 0.05
CAP = Cap(events=100, seconds=LONG)


async def value(store: Store, name: str) -> bytes | None:
    (record,) = await store.read(name)
    return None if record is None else record.value


# -- records ---------------------------------------------------------------------------


async def test_a_record_is_read_as_it_was_written(store: Store) -> None:
    every_byte = bytes(range(256))
    await store.write("a", every_byte, LONG)
    assert await value(store, "a") == every_byte
    assert await value(store, "b") is None


async def test_several_records_are_read_in_the_order_asked_for(store: Store) -> None:
    await store.write("a", b"1", LONG)
    await store.write("c", b"3", LONG)
    records = await store.read("c", "b", "a")
    assert [one and one.value for one in records] == [b"3", None, b"1"]


async def test_a_record_is_gone_after_its_time(store: Store) -> None:
    await store.write("a", b"1", SHORT)
    await until(lambda: gone(store, "a"))


async def gone(store: Store, name: str) -> bool:
    return await value(store, name) is None


async def test_of_two_that_change_the_same_version_one_succeeds(store: Store) -> None:
    await store.write("a", b"0", LONG)
    (record,) = await store.read("a")
    assert record is not None
    first, second = await asyncio.gather(
        store.write("a", b"1", LONG, version=record.version),
        store.write("a", b"2", LONG, version=record.version),
    )
    assert (first is None) != (second is None)
    assert await value(store, "a") == (b"1" if first else b"2")


async def test_a_version_serves_the_next_change(store: Store) -> None:
    version = await store.write("a", b"0", LONG, version=ABSENT)
    assert version is not None
    assert await store.write("a", b"1", LONG, version=ABSENT) is None
    assert await store.write("a", b"2", LONG, version=version) is not None
    assert await value(store, "a") == b"2"


async def test_only_the_version_named_is_erased(store: Store) -> None:
    version = await store.write("a", b"0", LONG)
    assert not await store.erase("a", version=b"another.")
    assert await store.erase("a", version=version)
    assert not await store.erase("a")
    assert await value(store, "a") is None


# -- leases ----------------------------------------------------------------------------


async def taken(store: Store, name: str, holder: str, seconds: float = LONG) -> Lease:
    lease = await store.take(name, holder, seconds)
    assert lease is not None
    return lease


async def test_a_lease_has_one_holder(store: Store) -> None:
    leases = await asyncio.gather(*(store.take("a", f"p{i}", LONG) for i in range(20)))
    held = [lease for lease in leases if lease is not None]
    assert len(held) == 1
    assert await store.held("a") == held[0]
    assert held[0].valid()


async def test_who_holds_a_lease_takes_it_again_as_the_same(store: Store) -> None:
    first = await taken(store, "a", "p")
    assert await store.take("a", "p", LONG) == first


async def test_a_released_lease_is_free(store: Store) -> None:
    lease = await taken(store, "a", "p")
    assert await store.release(lease)
    assert await store.held("a") is None
    other = await taken(store, "a", "q")
    assert other.fence > lease.fence
    assert not await store.release(lease)
    assert await store.held("a") == other


async def test_whoever_sees_a_lease_may_end_it_but_does_not_hold_it(store: Store) -> None:
    await taken(store, "a", "p")
    seen = await store.held("a")
    assert seen is not None
    assert not seen.valid()
    assert await store.release(seen)
    assert await store.held("a") is None


async def test_a_lease_that_is_not_renewed_is_lost_and_its_holder_knows_first(
    store: Store,
) -> None:
    lost = await taken(store, "a", "p", SHORT)
    held = await until(lambda: store.take("a", "q", LONG))
    assert not lost.valid()
    assert await store.renew([lost], LONG) == [None]
    assert held.fence > lost.fence


async def test_many_leases_are_renewed_together(store: Store) -> None:
    leases = [await taken(store, f"l{i}", "p", 0.5) for i in range(10)]
    await store.release(leases[3])
    renewed = await store.renew(leases, LONG)
    assert [one is not None for one in renewed] == [i != 3 for i in range(10)]
    assert all(one.until > leases[0].until + 50 for one in renewed if one is not None)


async def test_what_was_lost_cannot_be_written_under(store: Store) -> None:
    lost = await taken(store, "session:{1}", "p", SHORT)
    await store.write("session:{1}", b"mine", LONG, lease=lost)
    held = await until(lambda: store.take("session:{1}", "q", LONG))
    with pytest.raises(LeaseLost):
        await store.write("session:{1}", b"late", LONG, lease=lost)
    with pytest.raises(LeaseLost):
        await store.erase("session:{1}", lease=lost)
    with pytest.raises(LeaseLost):
        await store.append("session:{1}:g", [Event(1, b"late")], CAP, lease=lost)
    assert await value(store, "session:{1}") == b"mine"
    assert await store.events("session:{1}:g", 0) == []
    assert await store.write("session:{1}", b"his", LONG, lease=held)
    assert await store.erase("session:{1}", lease=held)


async def test_a_lease_guards_only_what_has_its_tag(store: Store) -> None:
    lease = await taken(store, "session:{1}", "p")
    with pytest.raises(ValueError, match="tag"):
        await store.write("session:{2}", b"", LONG, lease=lease)


# -- streams ---------------------------------------------------------------------------


def numbered(*numbers: int) -> list[Event]:
    return [Event(number, b"event %d" % number) for number in numbers]


async def test_events_are_read_after_a_number(store: Store) -> None:
    await store.append("s", numbered(1, 2, 3), CAP)
    assert await store.events("s", 0) == numbered(1, 2, 3)
    assert await store.events("s", 2) == numbered(3)
    assert await store.events("s", 3) == []


async def test_an_append_can_be_repeated(store: Store) -> None:
    await store.append("s", numbered(1, 2), CAP)
    await store.append("s", numbered(1, 2, 3), CAP)
    assert await store.events("s", 0) == numbered(1, 2, 3)


async def test_a_stream_keeps_its_last_events(store: Store) -> None:
    for number in range(1, 9):
        await store.append("s", numbered(number), Cap(3, LONG))
    assert await store.events("s", 0) == numbered(6, 7, 8)
    await store.append("s", numbered(9), CAP, oldest=8)
    assert await store.events("s", 0) == numbered(8, 9)


async def test_a_stream_is_gone_after_its_time(store: Store) -> None:
    await store.append("s", numbered(1), Cap(10, SHORT))

    async def empty() -> bool:
        return await store.events("s", 0) == []

    await until(empty)


async def test_who_waits_for_more_gets_it_when_it_comes(store: Store) -> None:
    waiting = [asyncio.create_task(store.events("s", 1, wait=LONG)) for _ in range(5)]
    await store.append("s", numbered(1), CAP)
    await asyncio.sleep(0.05)  # they may hear of the first, which is not what they wait for
    assert not any(task.done() for task in waiting)
    await store.append("s", numbered(2), CAP)
    async with asyncio.timeout(WITHIN):
        assert await asyncio.gather(*waiting) == [numbered(2)] * 5


async def test_a_wait_for_more_ends(store: Store) -> None:
    async with asyncio.timeout(WITHIN):
        assert await store.events("s", 0, wait=0.05) == []


async def test_a_follower_misses_nothing_and_gets_nothing_twice(store: Store) -> None:
    async def follow() -> list[Event]:
        seen: list[Event] = []
        while len(seen) < 300:
            seen += await store.events("s", seen[-1].number if seen else 0, wait=LONG)
        return seen

    following = asyncio.create_task(follow())
    for number in range(1, 301):
        await store.append("s", numbered(number), Cap(1000, LONG))
    async with asyncio.timeout(20):
        assert await following == numbered(*range(1, 301))


# -- allowances ------------------------------------------------------------------------


async def test_no_more_is_allowed_than_there_is(store: Store) -> None:
    rate = Rate(100, 3600)
    shares = await asyncio.gather(*(store.allow("r", rate, 7) for _ in range(20)))
    assert sum(share.granted for share in shares) == 100
    refused = [share for share in shares if not share.granted]
    assert refused and all(30 < share.wait <= 36 for share in refused)


async def test_allowances_come_back_evenly(store: Store) -> None:
    rate = Rate(10, 0.5)
    assert (await store.allow("r", rate, 100)).granted == 10

    async def more() -> bool:
        return (await store.allow("r", rate, 1)).granted == 1

    await until(more)


async def test_what_is_given_back_is_there_for_others(store: Store) -> None:
    rate = Rate(10, 3600)
    await store.allow("r", rate, 10)
    await store.give_back("r", rate, 4)
    assert (await store.allow("r", rate, 10)).granted == 4
    await store.give_back("r", rate, 400)
    assert (await store.allow("r", rate, 100)).granted == 10


async def seated(store: Store, holder: str, wanted: int, seconds: float = LONG) -> int:
    return await store.occupy("o", holder, wanted, most=10, seconds=seconds)


async def test_seats_are_shared_by_all(store: Store) -> None:
    assert await seated(store, "p", 6) == 6
    assert await seated(store, "q", 6) == 4
    assert await seated(store, "p", 8) == 6  # no more than it had
    assert await seated(store, "p", 2) == 2
    assert await seated(store, "q", 6) == 6
    assert await seated(store, "p", 0) == 0
    assert await seated(store, "q", 11) == 10


async def test_the_seats_of_one_that_is_gone_are_free_after_a_while(store: Store) -> None:
    assert await seated(store, "p", 10, SHORT) == 10

    async def free() -> bool:
        return await seated(store, "q", 10) == 10

    await until(free)


# -- groups ----------------------------------------------------------------------------


async def test_a_group_knows_its_members_until_they_leave(store: Store) -> None:
    await store.join("g", "p", b"at \x00 one", LONG)
    await store.join("g", "q", b"two", LONG)
    await store.join("g", "p", b"moved on", LONG)
    assert await store.members("g") == {"p": b"moved on", "q": b"two"}
    await store.leave("g", "p")
    assert await store.members("g") == {"q": b"two"}
    assert await store.members("another") == {}


async def test_a_member_that_says_nothing_any_more_is_gone(store: Store) -> None:
    await store.join("g", "p", b"", SHORT)
    await store.join("g", "q", b"", LONG)

    async def alone() -> bool:
        return await store.members("g") == {"q": b""}

    await until(alone)
