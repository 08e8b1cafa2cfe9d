"""Metrics as Prometheus' text format. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import accumulate

from toolyard.observation.series import BOUNDS, Histogram, Key, Metric, Point

CONTENT_TYPE = b"text/plain; version=0.0.4; charset=utf-8"
_ENDS = (*(f"{bound:g}" for bound in BOUNDS), "+Inf")
_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n"})
_MEANING_ESCAPES = str.maketrans({"\\": "\\\\", "\n": "\\n"})


def exposition(metrics: Iterable[Metric]) -> bytes:
    lines = [line for metric in metrics for line in _lines(metric)]
    # A name may hold half of a surrogate pair, which is no text that others could read.
    return "".join(lines).encode("utf-8", "replace")


def _lines(metric: Metric) -> Iterator[str]:
    yield f"# HELP {metric.name} {metric.meaning.translate(_MEANING_ESCAPES)}\n"
    yield f"# TYPE {metric.name} {metric.kind}\n"
    for point in metric.points:
        labels = _labels(metric.label_names, point.labels)
        if isinstance(point.value, Histogram):
            yield from _histogram(metric.name, labels, point.value)
        else:
            yield f"{metric.name}{_braced(labels)} {_number(point)}\n"


def _histogram(name: str, labels: str, histogram: Histogram) -> Iterator[str]:
    start = f"{name}_bucket{{{labels},le=" if labels else f"{name}_bucket{{le="
    counts = list(accumulate(histogram.counts))
    for end, count in zip(_ENDS, counts, strict=True):
        yield f'{start}"{end}"}} {count}\n'
    yield f"{name}_sum{_braced(labels)} {histogram.total!r}\n"
    yield f"{name}_count{_braced(labels)} {counts[-1]}\n"


def _labels(names: tuple[str, ...], values: Key) -> str:
    pairs = zip(names, values, strict=True)
    return ",".join(f'{name}="{value.translate(_ESCAPES)}"' for name, value in pairs)


def _braced(labels: str) -> str:
    return f"{{{labels}}}" if labels else ""


def _number(point: Point) -> str:
    return repr(point.value)
