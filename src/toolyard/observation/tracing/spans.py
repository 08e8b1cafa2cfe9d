"""Spans as they are made while calls run: records, and the one that is current.

OpenTelemetry's own spans cost 30 microseconds each, and half as much again to encode: two of them
are more than a whole call. These cost a fifth; a thread makes OpenTelemetry's of them (`otel.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextvars import ContextVar
from random import getrandbits
from time import time_ns
from typing import Literal, TypeAlias

from toolyard.observation.tracing.context import (
    BAGGAGE,
    NOWHERE,
    TRACEPARENT,
    TRACESTATE,
    Arrival,
    RemoteParent,
    arrival,
)
from toolyard.observation.tracing.sampling import Sampler

SpanKind = Literal["SERVER", "CLIENT", "INTERNAL"]
AttributeValue: TypeAlias = str | int | float | bool


class TraceSpan:
    """One span; filled in place while it lasts."""

    __slots__ = (
        *("attributes", "baggage", "end_ns", "failure", "is_sampled", "kind", "links"),
        *("message", "name", "parent_id", "span_id", "start_ns", "state", "trace_id", "tracer"),
    )

    def __init__(self, tracer: Tracer, name: str, kind: SpanKind) -> None:
        self.tracer = tracer
        self.name = name
        self.kind: SpanKind = kind
        self.span_id = getrandbits(64) or 1
        self.trace_id = self.parent_id = 0
        self.is_sampled = True
        self.state = self.baggage = ""
        self.links: tuple[RemoteParent, ...] = ()
        self.attributes: dict[str, AttributeValue] = {}
        self.failure = self.message = ""
        self.start_ns, self.end_ns = time_ns(), 0

    def child(self, name: str, kind: SpanKind) -> TraceSpan:
        span = TraceSpan(self.tracer, name, kind)
        span.trace_id, span.parent_id = self.trace_id, self.span_id
        span.is_sampled, span.state, span.baggage = self.is_sampled, self.state, self.baggage
        return span

    def end(self) -> None:
        if self.is_sampled:
            self.end_ns = time_ns()
            self.tracer.keep(self)

    def fail(self, failure: str, message: str = "") -> None:
        self.failure, self.message = failure, message

    @property
    def fields(self) -> dict[str, str]:
        """What a request says of the trace that it belongs to, with this span as the parent."""
        flags = "01" if self.is_sampled else "00"
        fields = {TRACEPARENT: f"00-{self.trace_id:032x}-{self.span_id:016x}-{flags}"}
        if self.state:
            fields[TRACESTATE] = self.state
        if self.baggage:
            fields[BAGGAGE] = self.baggage
        return fields


current: ContextVar[TraceSpan | None] = ContextVar("current", default=None)


class Tracer:
    """Begins traces, or goes on with those of clients. `keep` gets every span that has ended."""

    __slots__ = ("_sample", "_takes_parents", "keep")

    def __init__(
        self, sample: Sampler, keep: Callable[[TraceSpan], None], *, takes_parents: bool = True
    ) -> None:
        """Where a client's span is not taken as the parent, it is linked to instead."""
        self._sample = sample
        self._takes_parents = takes_parents
        self.keep = keep

    def elsewhere(self, fields: Mapping[str, str]) -> TraceSpan | None:
        """The span of another process of ours that these fields are of, to have children here."""
        parent, baggage = arrival({}, fields)
        if parent is None:
            return None
        span = TraceSpan(self, "", "INTERNAL")
        span.trace_id, span.span_id, span.is_sampled, span.state = parent
        span.baggage = baggage
        return span

    def begin(self, name: str, kind: SpanKind, whence: Arrival = NOWHERE) -> TraceSpan:
        """A span that has no parent in this process."""
        span = TraceSpan(self, name, kind)
        parent = whence.parent
        span.baggage = whence.baggage
        if parent is not None and self._takes_parents:
            span.trace_id, span.parent_id = parent.trace_id, parent.span_id
            span.state = parent.state
            span.is_sampled = self._sample(parent.is_sampled, parent.trace_id)
            return span
        span.trace_id, span.links = getrandbits(128) or 1, () if parent is None else (parent,)
        span.is_sampled = self._sample(None, span.trace_id)
        return span
