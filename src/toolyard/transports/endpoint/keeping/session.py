"""One session as the store has it: its record, its lease, its streams.

What is said on a stream is written behind: the client gets it at once, the store a moment
later, together with what has come in the meantime. The first message of a stream, answers and
questions are written without delay; other notifications wait a little for company. A process that
is killed in between takes along what it had not written; numbers of another process begin far
above, so that none is given twice. When the store is back after it was away, everything is written
again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeAlias

import orjson

from toolyard.cluster.tenure import Tenure
from toolyard.http.events import event
from toolyard.protocol.jsonrpc import Message, RequestId, encode_error
from toolyard.store.interface import Cap, Event, Lease, LeaseLost, Store, StoreError
from toolyard.telemetry import logger
from toolyard.transports.endpoint.exchange import may_have_run
from toolyard.transports.endpoint.keeping.record import NOTED, SessionRecord
from toolyard.transports.endpoint.outbox import (
    GENERAL,
    Outbox,
    is_notification,
    parse_event_id,
)

log = logger("sessions")
KEPT_FOR = 3600.0  # seconds without use
MOST_EVENTS = 1000
LINGER = 0.05  # seconds that a notification waits for others, to be written with them
CAP = Cap(MOST_EVENTS, KEPT_FOR)
_AT_ONCE = Cap(1, 0.001)
Position: TypeAlias = tuple[Outbox, int]  # a stream, and the number to go on after
_Past: TypeAlias = tuple[int, bytes, bytes]  # the number, the request it belongs to, the message


def name_of(key: str) -> str:
    return f"session:{{{key}}}"


@dataclass(frozen=True, slots=True)
class Keep:
    """What all kept sessions of this process share."""

    store: Store
    tenure: Tenure
    lost: Callable[[str], None]  # somebody else has the session of this key
    linger: float = LINGER


class KeptSession:
    def __init__(self, keep: Keep, key: str, record: SessionRecord, lease: Lease | None) -> None:
        """Without a lease: the store was away, and does not know of it yet."""
        self._keep = keep
        self._key = key
        self._name = name_of(key)
        self.record = record
        self._lease = lease
        self._term = keep.tenure.term
        self._dirty = False
        self._pending: dict[str, list[Event]] = {}
        self._followed: dict[str, tuple[Outbox, bytes]] = {}
        self._writing: asyncio.Task[None] | None = None
        self._hurry = asyncio.Event()
        self._erased = False
        # Of the general stream, by the client's last visit to another process.
        self._heard = record.delivered

    def is_ours(self) -> bool:
        """May we answer for it at this moment?"""
        tenure = self._keep.tenure
        return self._term == tenure.term and tenure.holds()

    async def confirm(self) -> bool:
        """Our lease ran out: is the session still ours? Raises StoreError."""
        store, tenure = self._keep.store, self._keep.tenure
        await tenure.until_held()
        if self._lease is not None:
            await store.release(self._lease)
        lease = await store.take(self._name, tenure.term, KEPT_FOR)
        (kept,) = await store.read(self._name)
        newer = kept is not None and self.record.generation < _generation(kept.value)
        if lease is None or newer:
            return False
        self._lease, self._term = lease, lease.holder
        self._note_all()
        self._write_soon()
        return True

    # -- what happens in it ------------------------------------------------------------

    def note(self, message: Message, answer: bytes | None = None) -> Awaitable[None] | None:
        """What the client is told has been done must not be lost: await what this gives."""
        if getattr(message, "method", None) not in NOTED:
            return None
        response = orjson.loads(answer) if answer else {"result": {}}
        if "result" not in response or not self.record.note(message, response["result"]):
            return None
        self._dirty = True
        self._write_soon()
        return self.flush()

    def follow(self, outbox: Outbox, request_id: RequestId | None = None) -> None:
        """From now on the messages of a stream are written."""
        if outbox.stream not in self._followed:
            of = b"" if request_id is None else orjson.dumps(request_id)
            self._followed[outbox.stream] = (outbox, of)
            outbox.join(self)

    def on_put(self, outbox: Outbox, number: int, message: bytes) -> None:
        _, of = self._followed[outbox.stream]
        pending = self._pending.setdefault(outbox.stream, [])
        pending.append(Event(number, of + b"\n" + message))
        del pending[:-MOST_EVENTS]
        self._dirty = self._dirty or outbox.stream == GENERAL  # it says what was heard of it
        is_first = number == outbox.start + 1  # from then on others know that there is a stream
        self._write_soon(hurry=is_first or not is_notification(message))

    # -- writing -----------------------------------------------------------------------

    async def written(self) -> None:
        """All of it, for the first time."""
        self._note_all()
        self._write_soon()
        await self.flush()

    def _note_all(self) -> None:
        self._dirty = True
        for outbox, of in self._followed.values():
            events = [Event(number, of + b"\n" + message) for number, message in outbox.kept()]
            if events:
                self._pending[outbox.stream] = events[-MOST_EVENTS:]

    def _write_soon(self, *, hurry: bool = True) -> None:
        if hurry:
            self._hurry.set()
        if self._writing is None and not self._erased:
            self._writing = asyncio.create_task(self._write_all())

    async def flush(self) -> None:
        """Until everything is written that can be."""
        while self._writing is not None:
            self._hurry.set()
            await asyncio.shield(self._writing)

    async def _write_all(self) -> None:
        try:
            while await self._something_to_write():
                await self._write()
        except StoreError:
            self._dirty = True  # everything is written again when it is back
        except LeaseLost:
            await self._reclaim()
        finally:
            if self._writing is asyncio.current_task():  # it may be erased by now
                self._writing = None

    async def _something_to_write(self) -> bool:
        """Is there, once it was waited for as long as what there is can wait?"""
        if self._dirty or self._pending:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._keep.linger):
                    await self._hurry.wait()
            self._hurry.clear()
        return (self._dirty or bool(self._pending)) and not self._erased

    async def _reclaim(self) -> None:
        """Somebody else has taken it; or the store has lost what it had."""
        try:
            if not await self.confirm():
                self._keep.lost(self._key)
        except StoreError:
            self._dirty = True

    async def _write(self) -> None:
        if self._lease is None:
            self._lease = await self._keep.store.take(self._name, self._term, KEPT_FOR)
            if self._lease is None:
                raise LeaseLost("somebody else has it")
            self._dirty = True
        pending, self._pending = self._pending, {}
        self._note_general()
        self._dirty, dirty = False, self._dirty
        writing = [self._append(stream, events) for stream, events in pending.items()]
        if dirty:
            writing.append(self._write_record())
        outcomes = await asyncio.gather(*writing, return_exceptions=True)
        for outcome in outcomes:
            if isinstance(outcome, BaseException):
                raise outcome

    def _note_general(self) -> None:
        general = self._followed.get(GENERAL)
        if general is not None:
            outbox, _ = general
            self.record.delivered = outbox.delivered
            self.record.general = outbox.oldest + len(outbox.kept()) - 1

    async def _append(self, stream: str, events: list[Event]) -> None:
        outbox, _ = self._followed[stream]
        name, oldest = f"{self._name}:{stream}", outbox.oldest
        await self._keep.store.append(name, events, CAP, oldest=oldest, lease=self._lease)
        if outbox.closed and stream not in self._pending:
            self._followed.pop(stream, None)
            outbox.leave(self)

    async def _write_record(self) -> None:
        value = self.record.encode()
        await self._keep.store.write(self._name, value, KEPT_FOR, lease=self._lease)

    async def renew(self) -> None:
        """It is used: keep it longer. Raises StoreError."""
        if self._lease is not None:
            self._lease = await self._keep.store.take(self._name, self._term, KEPT_FOR)
        self._dirty = True
        self._write_soon()

    # -- its end -----------------------------------------------------------------------

    def erase(self) -> None:
        if not self._erased:
            self._erased = True
            self._hurry.set()
            self._writing = asyncio.create_task(self._erase())

    async def _erase(self) -> None:
        store = self._keep.store
        try:
            await store.append(f"{self._name}:{GENERAL}", (), _AT_ONCE)
            await store.erase(self._name, lease=self._lease)
            if self._lease is not None:
                await store.release(self._lease)
        except (StoreError, LeaseLost):
            pass  # it is forgotten in an hour
        finally:
            self._writing = None  # whoever waits for the end of writing need not any more

    async def hand_over(self) -> None:
        """Nobody has it from now on: whoever gets its next request takes it."""
        self._dirty = True
        self._write_soon()
        await self.flush()
        self._erased = True
        try:
            if self._lease is not None:
                await self._keep.store.release(self._lease)
        except StoreError:
            pass  # our lease runs out in a moment

    # -- coming back -------------------------------------------------------------------

    async def past(
        self, event_id: str | None, general: Outbox, position: Position | None
    ) -> tuple[Position | None, list[bytes]]:
        """Where a client goes on that comes back, and what it gets first: events of others.

        `position` is where it would go on without those. Raises StoreError.
        """
        place = parse_event_id(event_id) if event_id is not None else (GENERAL, self._heard)
        if place is None:
            return position, []
        stream, number = place
        if stream == GENERAL:
            self._heard = general.start
            if number >= general.start:
                return position, []
            events = [one for one in await self._history(stream, number) if one[0] <= general.start]
            return (general, general.delivered), _sent_again(stream, events)
        if position is not None or not self._is_past(stream):
            return position, []
        return _ended(stream, number, await self._history(stream))

    def _is_past(self, stream: str) -> bool:
        number = stream.removeprefix("r")
        return number.isdecimal() and int(number) <= self.record.count

    async def _history(self, stream: str, after: int = 0) -> list[_Past]:
        events = await self._keep.store.events(f"{self._name}:{stream}", after)
        parts = ((event.number, event.data.partition(b"\n")) for event in events)
        return [(number, of, message) for number, (of, _, message) in parts]


def _ended(stream: str, after: int, events: list[_Past]) -> tuple[Position | None, list[bytes]]:
    """The stream of a call that another process ran: it has its answer, or never will."""
    if not events:
        return None, []
    last, of, message = events[-1]
    if "method" in orjson.loads(message):
        events.append((last + 1, of, encode_error(orjson.loads(of), may_have_run())))
    outbox = Outbox(stream)
    outbox.close()
    return (outbox, 0), _sent_again(stream, [one for one in events if one[0] > after])


def _sent_again(stream: str, events: list[_Past]) -> list[bytes]:
    return [event(message, f"{stream}.{number}") for number, _, message in events]


def _generation(value: bytes) -> int:
    return SessionRecord.decode(value).generation
