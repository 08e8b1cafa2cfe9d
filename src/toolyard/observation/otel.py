"""Our spans and metrics as the messages of OpenTelemetry's protocol.

The only module that imports those messages, and imported only where `OTEL_*` variables ask for it
and `toolyard[otel]` is installed.

Most of a span is what many were before: its name, its kind and most of its attributes. That part is
made once and kept as bytes. What is new in each span are ids and times: they are written here, by
hand, because a message of the library for each span takes five times as long as all of this, and
all of it is CPU that calls do not get. In the encoding of protobuf that is easy: the fields of a
message may stand in any order, so that bytes of parts behind each other are bytes of the whole.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import lru_cache
from struct import Struct
from time import time_ns
from typing import Any

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, InstrumentationScope, KeyValue
from opentelemetry.proto.metrics.v1 import metrics_pb2 as otlp
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Span, Status

from toolyard import __version__
from toolyard.observation.otlp import Collector, resource_attributes
from toolyard.observation.series import BOUNDS, Histogram, Metric, Point
from toolyard.observation.tracing.records import (
    ERROR,
    REQUEST_ID,
    AttributeValue,
    Outcome,
    SpanLikeness,
    SpanRecord,
)

_SCOPE = InstrumentationScope(name="toolyard", version=__version__)
_KINDS = {
    "SERVER": Span.SPAN_KIND_SERVER,
    "CLIENT": Span.SPAN_KIND_CLIENT,
    "INTERNAL": Span.SPAN_KIND_INTERNAL,
}
_SAMPLED = 1  # W3C's flags
_START_NS = time_ns()
# The tags of the fields that are written here: their number, and how their value is written. Ids
# have their length behind it.
_RESOURCE_SPANS, _SCOPE_SPANS, _SPANS = b"\x0a", b"\x12", b"\x12"
_TRACE_ID, _SPAN_ID, _PARENT_ID = b"\x0a\x10", b"\x12\x08", b"\x22\x08"
_START, _END, _ATTRIBUTES = 0x39, 0x41, b"\x4a"
_VALUE, _TEXT = b"\x12", b"\x0a"
_times = Struct("<BQBQ").pack
_REQUEST_ID = KeyValue(key=REQUEST_ID).SerializeToString()
_IN_SCOPE = ScopeSpans(scope=_SCOPE).SerializeToString()


def _sound(text: str) -> str:
    """Paths, and what other servers say, may hold halves of characters: UTF-8 has none."""
    return text.encode("utf-8", "replace").decode()


def _value(value: AttributeValue) -> AnyValue:
    if isinstance(value, bool):
        return AnyValue(bool_value=value)
    if isinstance(value, int):
        return AnyValue(int_value=value)
    if isinstance(value, float):
        return AnyValue(double_value=value)
    return AnyValue(string_value=_sound(value))


def _attributes(pairs: Iterable[tuple[str, AttributeValue]]) -> list[KeyValue]:
    return [KeyValue(key=key, value=_value(value)) for key, value in pairs]


def _resource(service: str) -> Resource:
    return Resource(attributes=_attributes(resource_attributes(os.environ, service).items()))


class SpanSender:
    """Sends spans over OTLP."""

    def __init__(self, service: str) -> None:
        """Raises ValueError where a variable makes no sense, beginning with its name."""
        self._resource = ResourceSpans(resource=_resource(service)).SerializeToString()
        self._collector = Collector("traces", os.environ)

    def __call__(self, records: Iterable[SpanRecord]) -> bool:
        in_scope = b"".join((_IN_SCOPE, *map(_span, records)))
        of_us = self._resource + _within(_SCOPE_SPANS, in_scope)
        return self._collector.send(_within(_RESOURCE_SPANS, of_us))

    def close(self) -> None:
        self._collector.close()


def _span(record: SpanRecord) -> bytes:
    (
        kind, trace_id, span_id, parent_id, state, start_ns, end_ns, method,
        subject, version, request_id, party, outcome,
    ) = record  # fmt: skip
    parts = [
        _TRACE_ID,
        bytes.fromhex(trace_id),
        _SPAN_ID,
        bytes.fromhex(span_id),
        _times(_START, start_ns, _END, end_ns),
        _alike(kind, method, subject, version, party),
    ]
    if parent_id:
        parts += _PARENT_ID, bytes.fromhex(parent_id)
    if request_id is not None:
        text = _within(_TEXT, str(request_id).encode("utf-8", "replace"))
        parts.append(_within(_ATTRIBUTES, _REQUEST_ID + _within(_VALUE, text)))
    if outcome is not None or state:
        parts.append(_rest(state, outcome))
    return _within(_SPANS, b"".join(parts))


@lru_cache(maxsize=4096)
def _alike(*values: Any) -> bytes:
    """What spans of the same likeness have in common, of the values of a `SpanLikeness`."""
    likeness = SpanLikeness(*values)
    span = Span(
        name=_sound(likeness.name),
        kind=_KINDS[likeness.kind],
        flags=_SAMPLED,
        attributes=_attributes(likeness.attributes()),
    )
    alike: bytes = span.SerializeToString()
    return alike


def _rest(state: str, outcome: Outcome | None) -> bytes:
    """What few spans have."""
    span = Span(trace_state=state)
    if outcome is not None:
        span.attributes.extend(_attributes(outcome.attributes))
        for link in outcome.links:
            flags = _SAMPLED if link.is_sampled else 0
            ids = bytes.fromhex(link.trace_id), bytes.fromhex(link.span_id)
            span.links.add(trace_id=ids[0], span_id=ids[1], flags=flags)
        if outcome.failure:
            span.attributes.extend(_attributes([(ERROR, outcome.failure)]))
            span.status.code = Status.STATUS_CODE_ERROR
            span.status.message = _sound(outcome.message)
    rest: bytes = span.SerializeToString()
    return rest


def _within(tag: bytes, message: bytes) -> bytes:
    """A message, as the field of another that has this tag."""
    size = len(message)
    if size < 128:
        return b"%b%c%b" % (tag, size, message)
    length = bytearray()
    while size > 127:
        length.append(size & 127 | 128)
        size >>= 7
    return b"%b%b%c%b" % (tag, bytes(length), size, message)


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
