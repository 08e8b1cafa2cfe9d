"""Metrics of what is served over HTTP, where the settings ask for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from toolyard.app.taps import MoreTaps, Taps
from toolyard.settings import Settings

if TYPE_CHECKING:
    from toolyard.http.response import Responder
    from toolyard.observation.metrics import Metrics
    from toolyard.observation.vitals import ServerVitals

OVER_HTTP = "tcp"


def metrics_of(settings: Settings) -> Metrics | None:
    if not settings.metrics:
        return None
    # Whoever has switched them off does not load them.
    from toolyard.observation.metrics import Metrics  # noqa: PLC0415

    return Metrics(OVER_HTTP, settings.metrics_series)


def metered(taps: Taps, metrics: Metrics | None) -> Taps:
    if metrics is None:
        return taps
    from toolyard.observation.operations import MeasuredScript  # noqa: PLC0415 - as above

    return MoreTaps(taps, metrics.server.observe, metrics.client.observe, MeasuredScript)


def metrics_endpoint(metrics: Metrics | None, vitals: ServerVitals) -> Mapping[str, Responder]:
    if metrics is None:
        return {}
    from toolyard.observation.endpoint import MetricsEndpoint  # noqa: PLC0415 - as above

    metrics.attach(vitals)
    return {"/metrics": MetricsEndpoint(metrics.read)}
