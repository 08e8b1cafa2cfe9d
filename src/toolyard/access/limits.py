"""How often a caller may call. One place counts for every method."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil

from toolyard.access.globs import Matches, globs
from toolyard.access.rules import Who, read_who
from toolyard.access.subject import Subject, subject_of
from toolyard.configuration.check import Findings, check
from toolyard.configuration.objects import shape
from toolyard.errors import RATE_LIMITED, ProtocolError, ToolError
from toolyard.protocol.call import Call, Channel, Handler, JsonObject, Result
from toolyard.protocol.kinds import FAMILIES

MAX_BUCKETS = 10_000


@dataclass(frozen=True, slots=True)
class RateLimit:
    """At most `calls` in `seconds`, for each caller; over what, or over everything."""

    calls: int
    seconds: float
    callers: Who
    over: dict[str, Matches] | None = None

    def concerns(self, call: Call, subject: Subject) -> bool:
        if not self.callers.includes(call.caller):
            return False
        if self.over is None:
            return True
        matches = self.over.get(subject.kind)
        return matches is not None and any(map(matches, subject.spellings))


@dataclass(slots=True)
class Bucket:
    """Fills evenly; each call takes one out of it."""

    level: float
    at: float


class RateLimits:
    """Counts calls: a bucket for each limit and each caller that it concerns."""

    def __init__(
        self, limits: Sequence[RateLimit], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._limits = tuple(limits)
        self._clock = clock
        self._buckets: dict[tuple[int, str], Bucket] = {}

    def count(self, call: Call) -> None:
        """Raises ToolError or ProtocolError where the caller has to wait."""
        wait = self.wait(call)
        if wait == 0:
            return
        text = f"Too many calls: try again in {ceil(wait)} s"
        if call.method == "tools/call":
            raise ToolError(text)
        raise ProtocolError(RATE_LIMITED, text, {"retryAfter": ceil(wait)})

    def wait(self, call: Call) -> float:
        """Seconds until this call would be allowed; 0 when it is, and then it counts."""
        subject, now = subject_of(call), self._clock()
        buckets = [
            self._bucket(i, limit, call.caller.id, now)
            for i, limit in enumerate(self._limits)
            if limit.concerns(call, subject)
        ]
        wait = max((_wait(bucket, limit) for bucket, limit in buckets), default=0.0)
        if wait == 0:
            for bucket, _ in buckets:
                bucket.level -= 1
        return wait

    def _bucket(
        self, index: int, limit: RateLimit, caller: str, now: float
    ) -> tuple[Bucket, RateLimit]:
        key = (index, caller)
        bucket = self._buckets.get(key)
        if bucket is None:
            if len(self._buckets) >= MAX_BUCKETS:
                self._forget_full(now)
            bucket = self._buckets[key] = Bucket(float(limit.calls), now)
        refill = (now - bucket.at) * limit.calls / limit.seconds
        bucket.level, bucket.at = min(float(limit.calls), bucket.level + refill), now
        return bucket, limit

    def _forget_full(self, now: float) -> None:
        longest = max(limit.seconds for limit in self._limits)
        self._buckets = {k: b for k, b in self._buckets.items() if now - b.at < longest}


def _wait(bucket: Bucket, limit: RateLimit) -> float:
    return 0.0 if bucket.level >= 1 else (1 - bucket.level) * limit.seconds / limit.calls


def limited(handler: Handler, limits: RateLimits) -> Handler:
    async def handle(call: Call, channel: Channel) -> Result:
        limits.count(call)
        return await handler(call, channel)

    return handle


def read_limits(
    entries: Sequence[JsonObject], place: str, pointer: str = "/limits"
) -> tuple[RateLimit, ...]:
    """Raises ConfigError with every problem."""
    findings = Findings(place)
    check(list(entries), shape("access", "/$defs/limits"), findings, pointer)
    findings.close()
    return tuple(map(_read, entries))


def _read(entry: JsonObject) -> RateLimit:
    over: dict[str, Matches] = {kind: globs(entry[kind]) for kind in FAMILIES if kind in entry}
    callers = read_who(entry.get("for", {}))
    return RateLimit(int(entry["calls"]), float(entry.get("seconds", 60)), callers, over or None)
