"""The latest calls of all clients, in memory. Costs a call a few microseconds.

Nothing is encoded, measured or masked here: that is done when somebody looks.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Iterator, Sequence
from dataclasses import dataclass, replace
from time import perf_counter, time

from toolyard.errors import ProtocolError
from toolyard.protocol.call import (
    Call,
    Channel,
    Encoded,
    Handler,
    Json,
    JsonObject,
    Questions,
    Result,
)
from toolyard.protocol.channel import PassingChannel
from toolyard.protocol.kinds import NAMED_BY
from toolyard.protocol.revisions import SERVER_METHODS
from toolyard.web.recording.glimpse import glimpse, is_small
from toolyard.web.recording.hops import Hop, in_words, observers

KEPT = 1_000
# Nobody reads more than that, and keeping more would slow down a busy gateway: beyond it, calls
# are only counted, and kept when they fail.
MOST_AT_ONCE, WITHIN = 50, 0.25
MOST_MESSAGES = 50
MOST_NAMES = 20_000
LONGEST_NAME = 300
# Streams and session bookkeeping are not calls that anyone waits for.
RECORDED = SERVER_METHODS


@dataclass(slots=True)
class Message:
    """What a call said, or was told, while it ran."""

    at: float
    kind: str
    data: Json


class CallRecord:
    """One call; filled in place while it runs. What is rarely set is shared until then."""

    outcome = "running"
    error: JsonObject | None = None
    result: Json = None
    ended = 0.0
    messages: Sequence[Message] = ()

    def __init__(self, number: int, call: Call) -> None:
        self.number = number
        self.call = call if is_small(call.params) else replace(call, params=glimpse(call.params))
        self.name = name_of(call)
        self.hops: list[Hop] = []
        self.at = time()
        self.began = perf_counter()

    @property
    def seconds(self) -> float:
        return (self.ended or perf_counter()) - self.began

    def note(self, kind: str, data: Json) -> None:
        if len(self.messages) < MOST_MESSAGES:
            message = Message(perf_counter() - self.began, kind, glimpse(data))
            self.messages = (*self.messages, message)


@dataclass(slots=True)
class Count:
    """How many calls one name got, and how many of them failed."""

    calls: int = 0
    errors: int = 0


class Traffic:
    """The latest calls in full, and a count of all of them by method and name."""

    def __init__(self, most: int = KEPT) -> None:
        self._records: deque[CallRecord] = deque(maxlen=most)
        self._number = 0
        self._since, self._recent = 0.0, 0
        self.counts: dict[tuple[str, str], Count] = {}

    @property
    def latest(self) -> int:
        """The number of the newest call; numbers never repeat."""
        return self._number

    def has_room(self) -> bool:
        """May another call be kept in full just now?"""
        now = perf_counter()
        if now - self._since > WITHIN:
            self._since, self._recent = now, 0
        self._recent += 1
        return self._recent <= MOST_AT_ONCE

    def pass_by(self, call: Call) -> None:
        """Count a call that went well and is not kept."""
        self._number += 1
        by = NAMED_BY.get(call.method)
        # An mcp-bash project may be asked for a resource by name, without a URI.
        name = call.params.get(by, "") if by else ""
        count = self.counts.get((call.method, name)) if isinstance(name, str) else None
        if count is not None:
            count.calls += 1
        else:
            self._count(call.method, name_of(call), "ok")

    def begin(self, call: Call) -> CallRecord:
        self._number += 1
        record = CallRecord(self._number, call)
        self._records.append(record)
        return record

    def end(self, record: CallRecord, outcome: str) -> None:
        record.ended = perf_counter()
        record.outcome = outcome
        self._count(record.call.method, record.name, outcome)

    def _count(self, method: str, name: str, outcome: str) -> None:
        key = (method, name)
        count = self.counts.get(key)
        if count is None:
            # Names come from clients: unknown ones must not fill the memory.
            key = key if len(self.counts) < MOST_NAMES else (method, "")
            count = self.counts.setdefault(key, Count())
        count.calls += 1
        count.errors += outcome == "error"

    def find(self, number: int) -> CallRecord | None:
        return next((record for record in self._records if record.number == number), None)

    def newest_first(self) -> Iterator[CallRecord]:
        return reversed(self._records)

    def clear(self) -> None:
        self._records.clear()
        self.counts.clear()


def recorded(handler: Handler, traffic: Traffic) -> Handler:
    """The same handler, with every call through it kept for the page."""

    def handle(call: Call, channel: Channel) -> Awaitable[Result]:
        if call.method not in RECORDED:
            return handler(call, channel)
        keep = _in_full if traffic.has_room() else _in_passing
        return keep(handler, traffic, call, channel)

    return handle


async def _in_full(handler: Handler, traffic: Traffic, call: Call, channel: Channel) -> Result:
    record = traffic.begin(call)
    outside = observers.get()
    observers.set((*outside, record.hops))
    try:
        result = await handler(call, Overheard(channel, record))
    except BaseException as error:
        record.error = _error(error)
        _shrink(record, None)
        traffic.end(record, "error" if isinstance(error, Exception) else "cancelled")
        raise
    finally:
        observers.set(outside)
    record.result = glimpse(result)
    _shrink(record, result)
    traffic.end(record, _outcome(result))
    return result


async def _in_passing(handler: Handler, traffic: Traffic, call: Call, channel: Channel) -> Result:
    """Too much is going on to keep everything: only failures are kept, without their messages."""
    began = perf_counter()
    try:
        result = await handler(call, channel)
    except BaseException as error:
        record = traffic.begin(call)
        record.began, record.error = began, _error(error)
        traffic.end(record, "error" if isinstance(error, Exception) else "cancelled")
        raise
    if isinstance(result, Encoded) or not result.get("isError"):
        traffic.pass_by(call)
        return result
    record = traffic.begin(call)
    record.began, record.result = began, glimpse(result)
    traffic.end(record, "error")
    return result


def name_of(call: Call) -> str:
    return str(call.params.get(NAMED_BY.get(call.method, ""), ""))[:LONGEST_NAME]


def _outcome(result: Result) -> str:
    return "error" if not isinstance(result, Encoded) and result.get("isError") else "ok"


def _error(error: BaseException) -> JsonObject | None:
    """None for a call that was cancelled: that is no failure."""
    if not isinstance(error, Exception):
        return None
    if isinstance(error, ProtocolError):
        return {"code": error.code, "message": error.message, "data": glimpse(error.data)}
    return {"message": in_words(error)[:2_000]}


def _shrink(record: CallRecord, result: Result | None) -> None:
    """Keep glimpses, so that memory stays bounded whatever passes through."""
    arguments, kept_result = record.call.params.get("arguments"), record.result
    for hop in record.hops:
        if hop.arguments is not arguments or hop.result is not result or kept_result is not result:
            break
    else:
        return  # like most calls: the same small values all the way
    record.hops = [
        hop.with_values(
            hop.arguments if hop.arguments is arguments else glimpse(hop.arguments),
            record.result if hop.result is result else glimpse(hop.result),
        )
        for hop in record.hops
    ]


class Overheard(PassingChannel):
    """A call's channel, with everything said on it noted."""

    __slots__ = ("_record",)

    def __init__(self, channel: Channel, record: CallRecord) -> None:
        self.channel = channel
        self._record = record

    def notify(self, method: str, params: JsonObject) -> None:
        self._record.note("notification", {"method": method, "params": params})
        self.channel.notify(method, params)

    def progress(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> None:
        report = {"progress": progress, "total": total, "message": message}
        self._record.note("progress", report)
        self.channel.progress(progress, total, message)

    def log(self, level: str, data: Json, logger: str | None = None) -> None:
        self._record.note("log", {"level": level, "data": data, "logger": logger})
        self.channel.log(level, data, logger)

    async def ask(self, questions: Questions, timeout: float | None = None) -> JsonObject:
        self._record.note("question", dict(questions))
        answers = await self.channel.ask(questions, timeout)
        self._record.note("answer", answers)
        return answers
