"""The last hour, minute by minute: how often each tool and server was called, and how it did.

Made of the histograms that `/metrics` shows, by looking at them once a minute: calls pay nothing.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from operator import add, sub
from time import time
from typing import NamedTuple, TypeAlias

from toolyard.observation.metrics import Metrics
from toolyard.observation.outcomes import CANCELLED
from toolyard.observation.series import BOUNDS, Histogram, Key
from toolyard.protocol.call import JsonObject

STEP = 60.0
KEPT = 60
# In one minute; the busiest are kept.
MOST_NAMES = 300
_CALL = "tools/call"
# Whoever cancels a call has not seen it fail.
_NO_FAILURES = ("", CANCELLED)


class Totals(NamedTuple):
    """Since the start: calls by duration, and how many of them failed."""

    counts: tuple[int, ...]
    errors: int

    def since(self, before: Totals) -> Totals:
        return Totals(tuple(map(sub, self.counts, before.counts)), self.errors - before.errors)

    def plus(self, others: Totals) -> Totals:
        return Totals(tuple(map(add, self.counts, others.counts)), self.errors + others.errors)


NOTHING = Totals((0,) * (len(BOUNDS) + 1), 0)
ByName: TypeAlias = Mapping[str, Totals]


class Minute(NamedTuple):
    at: float
    tools: ByName
    servers: ByName


class History:
    """Remembers what the metrics were a minute ago, and the minutes before that."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics
        self._minutes: deque[Minute] = deque(maxlen=KEPT)
        self._before = self._now()

    def look(self) -> None:
        """A minute is over."""
        now = self._now()
        self._minutes.append(_between(self._before, now))
        self._before = now

    def minutes(self) -> list[Minute]:
        """Those that are over, and what there is of this one."""
        return [*self._minutes, _between(self._before, self._now())]

    def _now(self) -> Minute:
        server, client = self._metrics.server.durations, self._metrics.client.durations
        return Minute(time(), _sums(server.items(), 1), _sums(client.items(), 5))


def document_of(histories: Sequence[Sequence[Minute]]) -> JsonObject:
    """The minutes of one process, or of several together: the first one's clock is shown."""
    longest = max(histories, key=len)
    minutes = [
        reduce(_together, [each[-back] for each in histories if len(each) >= back])
        for back in range(len(longest), 0, -1)
    ]
    return {
        "step": STEP,
        "at": [round(minute.at) for minute in minutes],
        "tools": _rows([minute.tools for minute in minutes]),
        "servers": _rows([minute.servers for minute in minutes]),
    }


def packed(minutes: Sequence[Minute]) -> JsonObject:
    """For another process."""
    return {"minutes": [[m.at, _plain(m.tools), _plain(m.servers)] for m in minutes]}


def _plain(by_name: ByName) -> JsonObject:
    return {name: [totals.counts, totals.errors] for name, totals in by_name.items()}


def unpacked(document: JsonObject) -> list[Minute]:
    return [
        Minute(at, _totals(tools), _totals(servers)) for at, tools, servers in document["minutes"]
    ]


def _totals(by_name: JsonObject) -> ByName:
    return {name: Totals(tuple(counts), errors) for name, (counts, errors) in by_name.items()}


def _together(one: Minute, other: Minute) -> Minute:
    """They begin and end within a minute of each other."""
    return Minute(one.at, _added(one.tools, other.tools), _added(one.servers, other.servers))


def _added(one: ByName, other: ByName) -> ByName:
    return {
        name: one.get(name, NOTHING).plus(other.get(name, NOTHING)) for name in {**one, **other}
    }


def _sums(items: Iterable[tuple[Key, Histogram]], by: int) -> ByName:
    sums: dict[str, Totals] = {}
    for key, histogram in items:
        if key[0] == _CALL and key[by]:
            sofar = sums.get(key[by], NOTHING)
            errors = sum(histogram.counts) if key[2] not in _NO_FAILURES else 0
            counts = tuple(map(add, sofar.counts, histogram.counts))
            sums[key[by]] = Totals(counts, sofar.errors + errors)
    return sums


def _between(before: Minute, now: Minute) -> Minute:
    return Minute(now.at, _new(before.tools, now.tools), _new(before.servers, now.servers))


def _new(before: ByName, now: ByName) -> ByName:
    changes = {name: totals.since(before.get(name, NOTHING)) for name, totals in now.items()}
    busy = sorted(
        ((name, totals) for name, totals in changes.items() if any(totals.counts)),
        key=lambda pair: sum(pair[1].counts),
        reverse=True,
    )
    return dict(busy[:MOST_NAMES])


def _rows(minutes: list[ByName]) -> JsonObject:
    names = sorted({name for minute in minutes for name in minute})
    return {name: [_point(minute.get(name, NOTHING)) for minute in minutes] for name in names}


def _point(totals: Totals) -> JsonObject:
    calls = sum(totals.counts)
    return {
        "calls": calls,
        "errors": totals.errors,
        "p50": _quantile(totals.counts, calls, 0.5),
        "p95": _quantile(totals.counts, calls, 0.95),
    }


def _quantile(counts: tuple[int, ...], calls: int, part: float) -> float | None:
    """In seconds, as Prometheus reckons: evenly between the bounds."""
    if not calls:
        return None
    rank, below = part * calls, 0
    for index, count in enumerate(counts):
        if below + count >= rank and count:
            if index == len(BOUNDS):
                return BOUNDS[-1]
            lower = BOUNDS[index - 1] if index else 0.0
            return round(lower + (BOUNDS[index] - lower) * (rank - below) / count, 6)
        below += count
    return None
