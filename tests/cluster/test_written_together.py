"""How often a session writes what is said on its streams, and what may not wait."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from toolyard.cluster.tenure import Tenure
from toolyard.store.interface import Cap, Event, Lease
from toolyard.store.memory import MemoryStore
from toolyard.transports.endpoint.keeping.record import SessionRecord
from toolyard.transports.endpoint.keeping.session import Keep, KeptSession
from toolyard.transports.endpoint.outbox import Outbox

REPORT = b'{"jsonrpc":"2.0","method":"notifications/progress","params":{}}'
ANSWER = b'{"jsonrpc":"2.0","id":1,"result":{}}'
FOR_EVER = 60.0


class Appends(MemoryStore):
    """What was appended, trip by trip."""

    def __init__(self) -> None:
        super().__init__()
        self.numbers: list[list[int]] = []

    async def append(
        self,
        name: str,
        events: Sequence[Event],
        cap: Cap,
        *,
        oldest: int = 0,
        lease: Lease | None = None,
    ) -> None:
        await super().append(name, events, cap, oldest=oldest, lease=lease)
        self.numbers.append([event.number for event in events])


async def following(store: Appends, outbox: Outbox) -> KeptSession:
    async def nobody_else() -> bool:
        return False

    tenure = Tenure(store, "me", nobody_else)
    await tenure.begin()
    keep = Keep(store, tenure, lost=lambda _key: None, linger=FOR_EVER)
    session = KeptSession(keep, "key", SessionRecord(opening={}), None)
    await session.written()
    session.follow(outbox, 1)
    return session


async def turns() -> None:
    """As many turns of the loop as a trip to a store in memory takes, and more."""
    for _ in range(20):
        await asyncio.sleep(0)


async def test_reports_wait_for_the_answer_and_are_written_with_it() -> None:
    store, outbox = Appends(), Outbox("r1")
    session = await following(store, outbox)
    for message in (REPORT, REPORT, REPORT, ANSWER):
        outbox.put(message)
        await turns()
    await session.flush()
    assert store.numbers == [[1], [2, 3, 4]]  # the first tells the others of the stream


async def test_a_report_alone_is_written_when_somebody_waits_for_it() -> None:
    store, outbox = Appends(), Outbox("r1")
    session = await following(store, outbox)
    outbox.put(REPORT)
    await turns()
    outbox.put(REPORT)
    await turns()
    assert store.numbers == [[1]]
    async with asyncio.timeout(FOR_EVER / 2):
        await session.flush()
    assert store.numbers == [[1], [2]]


async def test_a_session_that_has_ended_has_nothing_to_be_waited_for() -> None:
    store, outbox = Appends(), Outbox("r1")
    session = await following(store, outbox)
    outbox.put(REPORT)
    await turns()
    outbox.put(REPORT)
    session.erase()
    async with asyncio.timeout(FOR_EVER / 2):
        await session.flush()
        await session.flush()
    assert await store.events("session:{key}:g", 0) == []
