"""Hold callers to their limits. One place for every method; where it is counted, a meter knows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil

from toolyard.access.limits.limit import Limit
from toolyard.access.limits.meters import Leave, Meter, OwnMeter, OwnSeats, Paced, Seated, Seats
from toolyard.access.subject import subject_of
from toolyard.errors import RATE_LIMITED, ProtocolError, ToolError
from toolyard.protocol.call import Call, Channel, Handler, Result


class CallLimits:
    def __init__(
        self, limits: Sequence[Limit], meter: Meter | None = None, seats: Seats | None = None
    ) -> None:
        self._limits = tuple(limits)
        self._meter = meter or OwnMeter()
        self._seats = seats or OwnSeats()
        self.hits = 0  # calls that were refused, since the start

    def over(self, handler: Handler) -> Handler:
        """The handler, for callers that keep to their limits."""

        async def counted(call: Call, channel: Channel) -> Result:
            await self.count(call)
            return await handler(call, channel)

        async def seated(call: Call, channel: Channel) -> Result:
            leave = await self._enter(call)
            try:
                return await counted(call, channel)
            finally:
                leave()

        return seated if any(limit.concurrent for limit in self._limits) else counted

    async def close(self) -> None:
        """What was taken ahead is there for others."""
        await self._meter.close()
        await self._seats.close()

    async def count(self, call: Call) -> None:
        """Raises ToolError or ProtocolError where the caller has to wait."""
        wait = await self.wait(call)
        if wait:
            self.hits += 1
            text = f"Too many calls: try again in {ceil(wait)} s"
            raise _refusal(call, text, {"retryAfter": ceil(wait)})

    async def wait(self, call: Call) -> float:
        """Seconds until this call would be allowed; 0 when it is, and then it counts."""
        needs = [
            Paced(limit.name(call.caller.id), limit.rate)
            for limit in self._concerned(call)
            if limit.rate is not None
        ]
        return await self._meter.take(needs) if needs else 0.0

    async def _enter(self, call: Call) -> Leave:
        """Lists and streams of news take no seat: a stream may last for days."""
        if subject_of(call).kind == "other":
            return _nothing
        needs = [
            Seated(limit.name(call.caller.id), limit.concurrent)
            for limit in self._concerned(call)
            if limit.concurrent is not None
        ]
        outcome = await self._seats.enter(needs) if needs else _nothing
        if isinstance(outcome, int):
            self.hits += 1
            text = f"Too many calls at once: {outcome} are running, and no more may"
            raise _refusal(call, text, {"concurrent": outcome})
        return outcome

    def _concerned(self, call: Call) -> Iterator[Limit]:
        subject = subject_of(call)
        return (limit for limit in self._limits if limit.concerns(call, subject))


def _nothing() -> None:
    """No seat was taken."""


def _refusal(call: Call, text: str, data: dict[str, int]) -> Exception:
    if call.method == "tools/call":
        return ToolError(text)
    return ProtocolError(RATE_LIMITED, text, data)
