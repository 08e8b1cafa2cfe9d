"""Traces of one process: what makes spans, and where they go. The rest of tracing is behind it."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping
from typing import Protocol

from toolyard.catalog.entries import Tool
from toolyard.cluster.door import Service
from toolyard.http.response import Responder
from toolyard.observation.otel import SpanSender
from toolyard.observation.series import Metric, single
from toolyard.observation.tracing.context import TRACEPARENT
from toolyard.observation.tracing.export import BatchSizes, SpanQueue
from toolyard.observation.tracing.internal import TracedMaking, TracedRunner, traced_decision
from toolyard.observation.tracing.requests import (
    ClientSpans,
    ServerSpans,
    over,
    over_copies,
    over_visits,
)
from toolyard.observation.tracing.sampling import sampler_of
from toolyard.observation.tracing.spans import Tracer, current
from toolyard.protocol.call import Call
from toolyard.virtual.watching import Onlooker


class States(Protocol):
    """What clients keep for us between a question and its answer, and bring to any process."""

    whence: Callable[[], str] | None

    def whence_of(self, call: Call) -> str: ...


class Traces:
    runner_type = TracedRunner

    def __init__(
        self, service: str, transport: str, *, takes_parents: bool, payloads: bool
    ) -> None:
        """Raises ValueError where a variable makes no sense, beginning with its name."""
        sampler = sampler_of(os.environ)
        self._sender = SpanSender(service)
        self._queue = SpanQueue(self._sender, BatchSizes(os.environ))
        tracer = self._tracer = Tracer(sampler, self._queue.put, takes_parents=takes_parents)
        self.server = ServerSpans(tracer, transport, payloads=payloads)
        self.client = ClientSpans(tracer)

    def over(self, responder: Responder) -> Responder:
        return over(responder)

    def over_visits(self, service: Service) -> Service:
        return over_visits(service)

    def over_copies(self, service: Service) -> Service:
        return over_copies(service, self._tracer)

    def fields(self) -> Mapping[str, str]:
        """What another process of ours is told of the span that needs it."""
        span = current.get()
        return {} if span is None else span.fields

    def follow(self, states: States) -> None:
        """Link each request that answers a question to the one that asked it."""
        states.whence = lambda: self.fields().get(TRACEPARENT, "")
        self.server.asker_of = states.whence_of

    def decision(self, decision: Awaitable[None], tool: Tool) -> Awaitable[None]:
        return traced_decision(decision, tool)

    def making(self, inner: Onlooker | None) -> Onlooker:
        return TracedMaking(inner)

    def dropped_metric(self) -> Metric:
        meaning = "Spans that no collector got: too many at once, or it was gone."
        dropped = self._queue.dropped_count
        return single("toolyard_spans_dropped_total", "counter", meaning, dropped)

    def close(self) -> None:
        self._sender.close()  # the last spans are tried once
        self._queue.close()


def log_fields() -> dict[str, str]:
    """Which trace a log record belongs to."""
    span = current.get()
    if span is None:
        return {}
    return {"trace_id": span.trace_id, "span_id": span.span_id}
