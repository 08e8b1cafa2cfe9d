"""A collector of ours: OTLP over HTTP in, spans and metrics as plain values out."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span as SpanMessage

from tests.until import until


@dataclass(frozen=True, slots=True)
class Caught:
    """One span, as it came."""

    name: str
    kind: str
    trace: str
    id: str
    parent: str
    attributes: dict[str, Any]
    links: tuple[str, ...]
    failed: bool
    service: str
    state: str

    def __str__(self) -> str:
        return f"{self.kind} {self.name} ({self.service})"


@dataclass(slots=True)
class Collector:
    endpoint: str = ""
    spans: list[Caught] = field(default_factory=list)
    metrics: dict[str, Any] = field(default_factory=dict)

    @property
    def env(self) -> dict[str, str]:
        """What makes a program send here, at once."""
        return {
            "OTEL_EXPORTER_OTLP_ENDPOINT": self.endpoint,
            "OTEL_BSP_SCHEDULE_DELAY": "50",
            "OTEL_METRIC_EXPORT_INTERVAL": "100",
        }

    def named(self, name: str, kind: str | None = None) -> list[Caught]:
        return [s for s in self.spans if s.name == name and kind in (None, s.kind)]

    async def one(self, name: str, kind: str, service: str | None = None) -> Caught:
        """The span of that name, once it has come."""

        def come() -> list[Caught]:
            return [s for s in self.named(name, kind) if service in (None, s.service)]

        found = await until(come)
        assert len(found) == 1, [str(span) for span in self.spans]
        return found[0]

    def take_traces(self, body: bytes) -> None:
        message = ExportTraceServiceRequest.FromString(body)
        for resource in message.resource_spans:
            service = values(resource.resource.attributes)["service.name"]
            for scope in resource.scope_spans:
                self.spans += [caught(span, service) for span in scope.spans]

    def take_metrics(self, body: bytes) -> None:
        message = ExportMetricsServiceRequest.FromString(body)
        for resource in message.resource_metrics:
            for scope in resource.scope_metrics:
                for metric in scope.metrics:
                    self.metrics[metric.name] = metric


def caught(span: SpanMessage, service: str) -> Caught:
    return Caught(
        span.name,
        SpanMessage.SpanKind.Name(span.kind).removeprefix("SPAN_KIND_"),
        span.trace_id.hex(),
        span.span_id.hex(),
        span.parent_span_id.hex(),
        values(span.attributes),
        tuple(link.span_id.hex() for link in span.links),
        span.status.code == 2,
        service,
        span.trace_state,
    )


def values(pairs: Iterable[Any]) -> dict[str, Any]:
    return {pair.key: getattr(pair.value, pair.value.WhichOneof("value")) for pair in pairs}


@asynccontextmanager
async def collecting() -> AsyncIterator[Collector]:
    collector = Collector()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                lines = head.decode("latin-1").split("\r\n")
                fields = dict(line.lower().split(": ", 1) for line in lines[1:] if line)
                body = await reader.readexactly(int(fields.get("content-length", "0")))
                if fields.get("content-encoding") == "gzip":
                    raise ValueError("not compressed by default")
                take = collector.take_traces if "traces" in lines[0] else collector.take_metrics
                take(body)
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    collector.endpoint = f"http://127.0.0.1:{port}"
    try:
        yield collector
    finally:
        server.close()
