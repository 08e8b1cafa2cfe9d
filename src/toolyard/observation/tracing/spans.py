"""Where in which trace we are, while a call runs; and what it leaves behind when a span has ended.

A span of OpenTelemetry's SDK costs 30 microseconds to make and 45 to encode: two of each are as
much as a whole call, and tracing may cost a call a tenth. So the thread that serves does only what
nobody can do later:

* It chooses the ids, as the texts that requests carry: a number would have to be written out. It
  takes them from a list that is filled a thousand at a time, because a system call for each would
  cost more than all of the rest.
* It writes the `traceparent` of each request that goes out, and looks at the clock twice.
* It remembers where it is: a `Place`, the least that a span's children must know, which is the
  value of `current` while the span lasts.
* When a span ends that is kept, it appends a tuple to a queue (`records.py`), if there is room.

What a span is called, what its attributes are, and what all of that is in OTLP is worked out by
the thread that sends (`export.py`, `otel.py`). Where a trace is not sampled there is a place all
the same, because others must be told that it is not, and nothing is left behind.

Places and records are made by `tuple.__new__`: the constructor that a named tuple has is a
function of Python, and takes several times as long.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from functools import partial
from typing import Any, NamedTuple, TypeAlias

from toolyard.observation.tracing.context import (
    BAGGAGE,
    TRACEPARENT,
    TRACESTATE,
    Arrival,
    RemoteParent,
    arrival,
)
from toolyard.observation.tracing.sampling import Sampler

# Hexadecimal. One span in 2 ** 64 gets zeros, which mean nothing: nobody will live to see it.
span_ids: list[str] = []
_trace_ids: list[str] = []
os.register_at_fork(after_in_child=span_ids.clear)
os.register_at_fork(after_in_child=_trace_ids.clear)


def more_of(ids: list[str], size: int = 8) -> list[str]:
    """The list, with more ids of so many bytes."""
    ids.extend(os.urandom(size * 1024).hex(" ", size).split())
    return ids


# Takes the values of a `SpanRecord`, in its order.
Keep: TypeAlias = Callable[[tuple[Any, ...]], None]


class Place(NamedTuple):
    """The span that something happens in, as far as what is within it must know."""

    trace_id: str
    span_id: str
    is_sampled: bool
    state: str
    baggage: str
    keep: Keep  # gets the spans within it that have ended

    def child(self) -> Place:
        return self._replace(span_id=(span_ids or more_of(span_ids)).pop())

    @property
    def fields(self) -> dict[str, str]:
        """What a request says of the trace that it belongs to, with this span as the parent."""
        flags = "01" if self.is_sampled else "00"
        fields = {TRACEPARENT: f"00-{self.trace_id}-{self.span_id}-{flags}"}
        if self.state:
            fields[TRACESTATE] = self.state
        if self.baggage:
            fields[BAGGAGE] = self.baggage
        return fields


# Of its values in a tuple.
place_of: Callable[[tuple[str, str, bool, str, str, Keep]], Place]
place_of = partial(tuple.__new__, Place)

current: ContextVar[Place | None] = ContextVar("current", default=None)


class SpanOrigin(NamedTuple):
    """Where a span begins that has no parent in this process."""

    place: Place
    parent_id: str = ""
    links: tuple[RemoteParent, ...] = ()


class Tracer:
    """Begins traces, or goes on with those of clients."""

    __slots__ = ("_keep", "_roots", "_sampler", "_takes_parents")

    def __init__(self, sampler: Sampler, keep: Keep, *, takes_parents: bool = True) -> None:
        """`keep` gets every span that has ended.

        Where a client's span is not taken as the parent, it is linked to instead.
        """
        self._sampler = sampler
        self._roots = sampler.roots
        self._takes_parents = takes_parents
        self._keep = keep

    def elsewhere(self, fields: Mapping[str, str]) -> Place | None:
        """The span of another process of ours that these fields are of, to have children here."""
        parent, baggage = arrival({}, fields)
        return None if parent is None else Place(*parent, baggage, self._keep)

    def root(self) -> Place:
        """Where a trace begins; half of its id is as good an id of its first span as any."""
        trace_id = (_trace_ids or more_of(_trace_ids, 16)).pop()
        is_sampled = self._roots is None or self._roots(trace_id)
        return place_of((trace_id, trace_id[16:], is_sampled, "", "", self._keep))

    def begin(self, whence: Arrival) -> SpanOrigin:
        """For a request whose sender said something of its trace."""
        parent, baggage = whence
        if parent is None or not self._takes_parents:
            place = self.root()._replace(baggage=baggage)
            return SpanOrigin(place, "", () if parent is None else (parent,))
        trace_id, parent_id, was_sampled, state = parent
        is_sampled = was_sampled if self._sampler.follows_parents else self._sampler.keeps(trace_id)
        place = Place(
            trace_id, (span_ids or more_of(span_ids)).pop(), is_sampled, state, baggage, self._keep
        )
        return SpanOrigin(place, parent_id)
