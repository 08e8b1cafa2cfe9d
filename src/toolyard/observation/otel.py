"""Our spans and metrics as the messages of OpenTelemetry's protocol.

The only module that imports those messages, and imported only where `OTEL_*` variables ask for it
and `toolyard[otel]` is installed.

Most of a span is what many were before: its name, its kind and most of its attributes. Those are
made once, and merged as bytes, which C does: made anew for each span they would take most of the
time that a span takes.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from functools import lru_cache
from time import time_ns

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, InstrumentationScope, KeyValue
from opentelemetry.proto.metrics.v1 import metrics_pb2 as otlp
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from toolyard import __version__
from toolyard.observation.otlp import Collector, resource_attributes
from toolyard.observation.series import BOUNDS, Histogram, Metric, Point
from toolyard.observation.tracing.records import (
    AttributeValue,
    Outcome,
    SpanLikeness,
    SpanRecord,
    likeness_of,
    own_attributes,
)

_SCOPE = InstrumentationScope(name="toolyard", version=__version__)
_KINDS = {
    "SERVER": Span.SPAN_KIND_SERVER,
    "CLIENT": Span.SPAN_KIND_CLIENT,
    "INTERNAL": Span.SPAN_KIND_INTERNAL,
}
# W3C's flags are the lowest bits; the others say that it is known where the parent is, and where.
_SAMPLED, _IS_KNOWN, _IS_REMOTE = 0x001, 0x100, 0x200
_START_NS = time_ns()


def _value(value: AttributeValue) -> AnyValue:
    if isinstance(value, bool):
        return AnyValue(bool_value=value)
    if isinstance(value, int):
        return AnyValue(int_value=value)
    if isinstance(value, float):
        return AnyValue(double_value=value)
    return AnyValue(string_value=value)


def _attributes(pairs: Iterable[tuple[str, AttributeValue]]) -> list[KeyValue]:
    return [KeyValue(key=key, value=_value(value)) for key, value in pairs]


def _resource(service: str) -> Resource:
    return Resource(attributes=_attributes(resource_attributes(os.environ, service).items()))


class SpanSender:
    """Sends spans over OTLP."""

    def __init__(self, service: str) -> None:
        """Raises ValueError where a variable makes no sense, beginning with its name."""
        self._resource = _resource(service)
        self._collector = Collector("traces", os.environ)

    def __call__(self, records: Sequence[SpanRecord]) -> bool:
        message = ExportTraceServiceRequest()
        of_us = message.resource_spans.add(resource=self._resource)
        spans = of_us.scope_spans.add(scope=_SCOPE).spans
        for record in records:
            _fill(spans.add(), record)
        return self._collector.send(message.SerializeToString())

    def close(self) -> None:
        self._collector.close()


def _fill(span: Span, record: SpanRecord) -> None:
    span.MergeFromString(_alike(likeness_of(record)))
    for name, value in own_attributes(record):
        if type(value) is str:
            span.attributes.add(key=name).value.string_value = value
        else:
            span.attributes.add(key=name, value=_value(value))
    span.trace_id = bytes.fromhex(record.trace_id)
    span.span_id = bytes.fromhex(record.span_id)
    if record.parent_id:
        span.parent_span_id = bytes.fromhex(record.parent_id)
        if record.kind == "SERVER":
            span.flags |= _IS_REMOTE
    if record.state:
        span.trace_state = record.state
    span.start_time_unix_nano = record.start_ns
    span.end_time_unix_nano = record.end_ns
    if record.outcome is not None:
        _add_outcome(span, record.outcome)


@lru_cache(maxsize=1024)
def _alike(likeness: SpanLikeness) -> bytes:
    span = Span(
        name=likeness.name,
        kind=_KINDS[likeness.kind],
        flags=_SAMPLED | _IS_KNOWN,
        attributes=_attributes(likeness.attributes()),
    )
    alike: bytes = span.SerializeToString()
    return alike


def _add_outcome(span: Span, outcome: Outcome) -> None:
    for link in outcome.links:
        span.links.add(
            trace_id=bytes.fromhex(link.trace_id),
            span_id=bytes.fromhex(link.span_id),
            flags=_IS_KNOWN | _IS_REMOTE | (_SAMPLED if link.is_sampled else 0),
        )
    if outcome.failure:
        span.status.code = Status.STATUS_CODE_ERROR
        span.status.message = outcome.message


class MetricSender:
    """Sends metrics over OTLP, by the names and labels that Prometheus sees."""

    def __init__(self, service: str) -> None:
        """Raises ValueError where a variable makes no sense, beginning with its name."""
        self._resource = _resource(service)
        self._collector = Collector("metrics", os.environ)

    def __call__(self, metrics: Iterable[Metric]) -> None:
        now = time_ns()
        message = ExportMetricsServiceRequest()
        of_us = message.resource_metrics.add(resource=self._resource)
        in_scope = of_us.scope_metrics.add(scope=_SCOPE)
        in_scope.metrics.extend(_metric(metric, now) for metric in metrics if metric.points)
        self._collector.send(message.SerializeToString())

    def close(self) -> None:
        self._collector.close()


def _metric(metric: Metric, now: int) -> otlp.Metric:
    unit = "s" if metric.name.endswith("_seconds") else ""
    found = otlp.Metric(name=metric.name, description=metric.meaning, unit=unit)
    whole = otlp.AGGREGATION_TEMPORALITY_CUMULATIVE
    for point in metric.points:
        attributes = _attributes(zip(metric.label_names, point.labels, strict=True))
        if metric.kind == "histogram":
            found.histogram.data_points.append(_durations(attributes, point, now))
        elif metric.kind == "gauge":
            found.gauge.data_points.append(_number(attributes, point, now))
        else:
            found.sum.data_points.append(_number(attributes, point, now))
    if metric.kind == "histogram":
        found.histogram.aggregation_temporality = whole
    elif metric.kind == "counter":
        found.sum.aggregation_temporality = whole
        found.sum.is_monotonic = True
    return found


def _number(attributes: list[KeyValue], point: Point, now: int) -> otlp.NumberDataPoint:
    assert not isinstance(point.value, Histogram)
    found = otlp.NumberDataPoint(
        attributes=attributes, start_time_unix_nano=_START_NS, time_unix_nano=now
    )
    if isinstance(point.value, int):
        found.as_int = point.value
    else:
        found.as_double = point.value
    return found


def _durations(attributes: list[KeyValue], point: Point, now: int) -> otlp.HistogramDataPoint:
    assert isinstance(point.value, Histogram)
    counts = point.value.counts
    # The smallest and the largest are not kept: the bounds around them are what is known.
    nonzero = [index for index, count in enumerate(counts) if count]
    return otlp.HistogramDataPoint(
        attributes=attributes,
        start_time_unix_nano=_START_NS,
        time_unix_nano=now,
        count=sum(counts),
        sum=point.value.total,
        bucket_counts=counts,
        explicit_bounds=BOUNDS,
        min=(0.0, *BOUNDS)[nonzero[0]],
        max=(*BOUNDS, BOUNDS[-1])[nonzero[-1]],
    )
