"""OpenTelemetry's SDK: resource, exporters, and our spans and metrics in its terms.

The only module that imports it, and imported only where `OTEL_*` variables ask for it and
`toolyard[otel]` is installed.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import repeat
from time import time_ns

from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.metrics import export as otlp
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExportResult
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import Link, SpanContext, SpanKind, TraceFlags, TraceState
from opentelemetry.trace.status import Status, StatusCode

from toolyard import __version__
from toolyard.observation.series import BOUNDS, Histogram, Metric, Point
from toolyard.observation.tracing.records import PLAIN, Outcome, SpanRecord, attributes_of, name_of

_SCOPE = InstrumentationScope("toolyard", __version__)
_KINDS = {
    "SERVER": SpanKind.SERVER,
    "CLIENT": SpanKind.CLIENT,
    "INTERNAL": SpanKind.INTERNAL,
}
_KEPT = TraceFlags(TraceFlags.SAMPLED)
_START_NS = time_ns()


def resource(service: str) -> Resource:
    """`OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES` win over what we call ourselves."""
    own = Resource({"service.name": service, "service.version": __version__})
    environment = Resource.create()
    attributes = dict(environment.attributes)
    if str(attributes.get("service.name", "")).startswith("unknown_service"):
        del attributes["service.name"]
    return own.merge(Resource(attributes))


class SpanSender:
    """Sends spans over OTLP."""

    def __init__(self, service: str) -> None:
        self._resource = resource(service)
        self._exporter = OTLPSpanExporter()

    def __call__(self, spans: Sequence[SpanRecord]) -> bool:
        outcome = self._exporter.export([_readable(span, self._resource) for span in spans])
        return outcome is SpanExportResult.SUCCESS

    def close(self) -> None:
        self._exporter.shutdown()  # type: ignore[no-untyped-call]


def _readable(span: SpanRecord, whose: Resource) -> ReadableSpan:
    state = TraceState.from_header([span.state]) if span.state else None
    parent = None
    trace_id = int(span.trace_id, 16)
    if span.parent_id:
        parent = SpanContext(trace_id, int(span.parent_id, 16), True, _KEPT, state)
    outcome = span.outcome or PLAIN
    return ReadableSpan(
        name_of(span),
        SpanContext(trace_id, int(span.span_id, 16), False, _KEPT, state),
        parent,
        whose,
        attributes_of(span),
        links=_links(outcome),
        kind=_KINDS[span.kind],
        status=Status(StatusCode.ERROR, outcome.message or None) if outcome.failure else Status(),
        start_time=span.start_ns,
        end_time=span.end_ns,
        instrumentation_scope=_SCOPE,
    )


def _links(outcome: Outcome) -> tuple[Link, ...]:
    return tuple(
        Link(
            SpanContext(
                int(to.trace_id, 16),
                int(to.span_id, 16),
                True,
                _KEPT if to.is_sampled else TraceFlags(),
            )
        )
        for to in outcome.links
    )


class MetricSender:
    """Sends metrics over OTLP, by the names and labels that Prometheus sees."""

    def __init__(self, service: str) -> None:
        self._resource = resource(service)
        self._exporter = OTLPMetricExporter()

    def __call__(self, metrics: Sequence[Metric]) -> None:
        now = time_ns()
        in_their_terms = [_metric(metric, now) for metric in metrics if metric.points]
        scope = otlp.ScopeMetrics(_SCOPE, in_their_terms, "")
        whole = otlp.MetricsData([otlp.ResourceMetrics(self._resource, [scope], "")])
        self._exporter.export(whole)

    def close(self) -> None:
        self._exporter.shutdown()


def _metric(metric: Metric, now: int) -> otlp.Metric:
    unit = "s" if metric.name.endswith("_seconds") else ""
    return otlp.Metric(metric.name, metric.meaning, unit, _data(metric, now))


def _data(metric: Metric, now: int) -> otlp.Sum | otlp.Gauge | otlp.Histogram:
    whole = otlp.AggregationTemporality.CUMULATIVE
    pairs = zip(repeat(metric.label_names), metric.points, strict=False)
    if metric.kind == "histogram":
        return otlp.Histogram([_histogram(*pair, now) for pair in pairs], whole)
    points = [_number(*pair, now) for pair in pairs]
    return otlp.Gauge(points) if metric.kind == "gauge" else otlp.Sum(points, whole, True)


def _number(label_names: tuple[str, ...], point: Point, now: int) -> otlp.NumberDataPoint:
    assert not isinstance(point.value, Histogram)
    labels = dict(zip(label_names, point.labels, strict=True))
    return otlp.NumberDataPoint(labels, _START_NS, now, point.value)


def _histogram(label_names: tuple[str, ...], point: Point, now: int) -> otlp.HistogramDataPoint:
    assert isinstance(point.value, Histogram)
    labels = dict(zip(label_names, point.labels, strict=True))
    counts = list(point.value.counts)
    # The smallest and the largest are not kept: the bounds around them are what is known.
    nonzero = [index for index, count in enumerate(counts) if count]
    return otlp.HistogramDataPoint(
        labels,
        _START_NS,
        now,
        sum(counts),
        point.value.total,
        counts,
        list(BOUNDS),
        min=(0.0, *BOUNDS)[nonzero[0]],
        max=(*BOUNDS, BOUNDS[-1])[nonzero[-1]],
    )
