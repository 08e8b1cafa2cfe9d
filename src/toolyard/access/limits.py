"""How often a caller may call. One place counts for every method."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil

from toolyard.access.globs import Matches, globs
from toolyard.access.rules import Who, read_who
from toolyard.access.subject import Subject, subject_of
from toolyard.errors import RATE_LIMITED, ConfigError, ProtocolError, ToolError
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


def read_limits(entries: Sequence[JsonObject], place: str) -> tuple[RateLimit, ...]:
    """Raises ConfigError."""
    return tuple(_read(entry, place, f"/limits/{i}") for i, entry in enumerate(entries))


def _read(entry: JsonObject, place: str, pointer: str) -> RateLimit:
    for key in entry:
        if key not in ("for", "calls", "seconds", *FAMILIES):
            raise ConfigError.at(place, f"unknown key {key!r}", f"{pointer}/{key}")
    calls, seconds = entry.get("calls"), entry.get("seconds", 60)
    if not isinstance(calls, int) or calls < 1:
        raise ConfigError.at(place, "expected a number of calls, 1 or more", f"{pointer}/calls")
    if not isinstance(seconds, int | float) or seconds <= 0:
        raise ConfigError.at(place, "expected a number of seconds", f"{pointer}/seconds")
    over: dict[str, Matches] = {kind: globs(entry[kind]) for kind in FAMILIES if kind in entry}
    callers = read_who(entry.get("for", {}), place, f"{pointer}/for")
    return RateLimit(calls, float(seconds), callers, over or None)
