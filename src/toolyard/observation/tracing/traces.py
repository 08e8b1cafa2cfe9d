"""Traces of one process: what makes spans, and where they go. The rest of tracing is behind it."""

from __future__ import annotations

import os
from collections.abc import Awaitable

from toolyard.catalog.entries import Tool
from toolyard.cluster.door import Service
from toolyard.http.response import Responder
from toolyard.observation.otel import SpanSender
from toolyard.observation.tracing.export import BatchSizes, SpanQueue
from toolyard.observation.tracing.internal import TracedRunner, traced_decision
from toolyard.observation.tracing.requests import ClientSpans, ServerSpans, over, over_visits
from toolyard.observation.tracing.sampling import sampler_of
from toolyard.observation.tracing.spans import Tracer, current


class Traces:
    runner_type = TracedRunner

    def __init__(
        self, service: str, transport: str, *, takes_parents: bool, payloads: bool
    ) -> None:
        """Raises ValueError where a variable makes no sense, beginning with its name."""
        sampler = sampler_of(os.environ)
        self._sender = SpanSender(service)
        self._queue = SpanQueue(self._sender, BatchSizes(os.environ))
        tracer = Tracer(sampler, self._queue.put, takes_parents=takes_parents)
        self.server = ServerSpans(tracer, transport, payloads=payloads)
        self.client = ClientSpans(tracer)

    def over(self, responder: Responder) -> Responder:
        return over(responder)

    def over_visits(self, service: Service) -> Service:
        return over_visits(service)

    def decision(self, decision: Awaitable[None], tool: Tool) -> Awaitable[None]:
        return traced_decision(decision, tool)

    def close(self) -> None:
        self._queue.close()
        self._sender.close()


def log_fields() -> dict[str, str]:
    """Which trace a log record belongs to."""
    span = current.get()
    if span is None:
        return {}
    return {"trace_id": f"{span.trace_id:032x}", "span_id": f"{span.span_id:016x}"}
