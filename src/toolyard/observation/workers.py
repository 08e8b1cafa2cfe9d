"""The metrics of all workers of one machine, whichever of them is scraped: each under its name.

A label tells processes apart, so that no counter ever falls: a worker that has ended is gone, and
one that is started anew has a name of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from toolyard.observation.series import Histogram, Metric, Point
from toolyard.protocol.call import Json, JsonObject

PROCESS = "process"


def packed(metrics: Iterable[Metric]) -> JsonObject:
    """For another process."""
    return {"metrics": [(*metric[:4], [_packed(p) for p in metric.points]) for metric in metrics]}


def _packed(point: Point) -> Json:
    value = point.value
    return [point.labels, [value.counts, value.total] if isinstance(value, Histogram) else value]


def unpacked(document: JsonObject) -> list[Metric]:
    return [
        Metric(name, kind, meaning, tuple(label_names), tuple(map(_point, points)))
        for name, kind, meaning, label_names, points in document["metrics"]
    ]


def _point(pair: Json) -> Point:
    labels, value = pair
    if not isinstance(value, list):
        return Point(tuple(labels), value)
    histogram = Histogram()
    histogram.counts, histogram.total = value
    return Point(tuple(labels), histogram)


def together(by_process: Mapping[str, Iterable[Metric]]) -> list[Metric]:
    """One metric of each name, with the series of every process."""
    whole: dict[str, Metric] = {}
    for process, metrics in by_process.items():
        for metric in metrics:
            points = tuple(Point((*labels, process), value) for labels, value in metric.points)
            known = whole.get(metric.name)
            names = (*metric.label_names, PROCESS)
            whole[metric.name] = metric._replace(
                label_names=names, points=(*known.points, *points) if known else points
            )
    return list(whole.values())
