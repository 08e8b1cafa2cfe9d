"""Who looks on while we serve: metrics where settings ask for them, OTLP where `OTEL_*` does.

What nobody asks for is not imported, and stands in no call's way.
"""

# ruff: noqa: PLC0415 - see above

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from toolyard.app.plan import Plan
from toolyard.app.serving.running import beside
from toolyard.app.taps import MoreTaps, Taps
from toolyard.errors import ConfigError
from toolyard.protocol.call import JsonObject
from toolyard.telemetry import add_fields, logger
from toolyard.upstreams.conversation.observing import Watch

if TYPE_CHECKING:
    from toolyard.app.build import App
    from toolyard.cluster.cluster import Cluster
    from toolyard.cluster.door import Service
    from toolyard.http.response import Responder
    from toolyard.observation.history import History
    from toolyard.observation.metrics import Metrics
    from toolyard.observation.otel import MetricSender
    from toolyard.observation.series import Metric
    from toolyard.observation.tracing.traces import Traces
    from toolyard.observation.vitals import ServerVitals
    from toolyard.transports.parking import Parking

log = logger("observing")
Transport = Literal["tcp", "pipe"]
Signal = Literal["TRACES", "METRICS"]
Pictures: TypeAlias = Callable[[], Awaitable[JsonObject]]
_ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"
_INTERVAL = "OTEL_METRIC_EXPORT_INTERVAL"
MISSING = "OTEL_* asks for OpenTelemetry, which is not installed: pip install 'toolyard[otel]'"


@dataclass(frozen=True, slots=True)
class Observation:
    """What is observed; None where it is not."""

    metrics: Metrics | None = None
    traces: Traces | None = None
    metric_sender: MetricSender | None = None
    history: History | None = None

    def over(self, taps: Taps) -> Taps:
        """The taps, with ours beside them."""
        if self.metrics is not None:
            from toolyard.observation.saving import Savings

            server, client = self.metrics.server, self.metrics.client
            watch, savings = Watch(note=client.notes_of), Savings(server.save)
            taps = MoreTaps(taps, None, server.note, watch, savings, server.save)
        if self.traces is not None:
            traces = self.traces
            taps = MoreTaps(
                taps,
                traces.server.observe,
                taps.note,
                taps.watch._replace(observe=traces.client.observe),
                traces.making(taps.onlooker),
                taps.saved,
                runner_type=traces.runner_type,
                around_decision=traces.decision,
            )
        return taps

    def around(self, responder: Responder) -> Responder:
        return responder if self.traces is None else self.traces.over(responder)

    def follow(self, parking: Parking) -> None:
        """Calls that are made again, with the answers to what they asked."""
        if self.traces is not None:
            self.traces.follow(parking.sealer)

    def around_visits(self, service: Service) -> Service:
        """What other processes pass on."""
        return service if self.traces is None else self.traces.over_visits(service)

    def around_copies(self, service: Service, cluster: Cluster) -> Service:
        """What other processes ask of the servers that run in this one, and it of them."""
        if self.traces is None:
            return service
        cluster.peers.context = self.traces.fields
        return self.traces.over_copies(service)

    def endpoint(self, vitals: ServerVitals, cluster: Cluster | None) -> Mapping[str, Responder]:
        if self.metrics is None:
            return {}
        from toolyard.observation.endpoint import MetricsEndpoint

        self.metrics.attach(vitals)
        # Replicas are scraped each by itself; of workers, whichever is asked answers for all.
        if cluster is not None and cluster.store is None:
            from toolyard.app.workers.metrics import of_all_workers

            return {"/metrics": MetricsEndpoint(of_all_workers(self.metrics, cluster))}
        return {"/metrics": MetricsEndpoint(self._read)}

    async def _read(self) -> list[Metric]:
        return [] if self.metrics is None else self.metrics.read()

    def services(self) -> Mapping[str, Service]:
        """What other workers may ask."""
        if self.metrics is None:
            return {}
        from toolyard.app.workers import metrics

        services = {metrics.SERVICE: metrics.metrics_service(self.metrics)}
        if self.history is not None:
            services[metrics.HISTORY] = metrics.history_service(self.history)
        return services

    def pictures(self, cluster: Cluster | None) -> Pictures | None:
        """The last hour, for the page: of every process that serves the same."""
        history = self.history
        if history is None:
            return None
        if cluster is not None:
            from toolyard.app.workers.metrics import history_of_all

            return history_of_all(history, cluster)

        async def own() -> JsonObject:
            from toolyard.observation.history import document_of

            return document_of([history.minutes()])

        return own

    def attach_to(self, app: App) -> None:
        """Over stdio: there is nothing to scrape, but metrics may be sent."""
        if self.metrics is not None:
            from toolyard.app.serving.endpoints import ServingVitals

            self.metrics.attach(ServingVitals(app))

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """While we serve: what is observed goes out, and at the end the last of it."""
        try:
            async with beside(*self._work()):
                yield
        finally:
            await asyncio.to_thread(self._close)

    def _close(self) -> None:
        if self.traces is not None:
            self.traces.close()
        if self.metric_sender is not None and self.metrics is not None:
            self.metric_sender.close()  # the last numbers are tried once
            self.metric_sender(self.metrics.read())

    def _work(self) -> Iterator[Coroutine[None, None, None]]:
        if self.metric_sender is not None:
            yield self._send_metrics()
        if self.history is not None:
            yield self._remember(self.history)

    async def _remember(self, history: History) -> None:
        while True:
            await asyncio.sleep(60.0)
            history.look()

    async def _send_metrics(self) -> None:
        assert self.metrics is not None and self.metric_sender is not None
        text = os.environ.get(_INTERVAL, "")
        interval = int(text) / 1000 if text.isdecimal() and int(text) else 60.0
        while True:
            await asyncio.sleep(interval)
            await asyncio.to_thread(self.metric_sender, self.metrics.read())


def observation_of(plan: Plan, transport: Transport) -> Observation:
    """Raises ConfigError where an `OTEL_*` variable makes no sense."""
    settings = plan.settings
    sends_metrics, sends_traces = _is_on("METRICS"), _is_on("TRACES")
    if (sends_metrics or sends_traces) and not _is_installed():
        log.warning(MISSING)
        sends_metrics = sends_traces = False
    metrics, sender, traces, history = None, None, None, None
    if sends_metrics or (settings.metrics and transport == "tcp"):
        from toolyard.observation.metrics import Metrics

        metrics = Metrics(transport, settings.metrics_series)
        history = _history(metrics) if transport == "tcp" else None
    if sends_metrics:
        from toolyard.observation.otel import MetricSender

        with _variables_named():
            sender = MetricSender(_service(plan))
    if sends_traces:
        traces = _traces(plan, transport)
        if metrics is not None:
            metrics.more.append(traces.dropped_metric)
    return Observation(metrics, traces, sender, history)


def _history(metrics: Metrics) -> History:
    from toolyard.observation.history import History

    return History(metrics)


def _traces(plan: Plan, transport: Transport) -> Traces:
    from toolyard.observation.tracing.traces import Traces, log_fields

    settings = plan.settings
    with _variables_named():
        traces = Traces(
            _service(plan),
            transport,
            takes_parents=settings.trace_context == "parent",
            payloads=settings.trace_payloads,
        )
    add_fields(log_fields)
    return traces


@contextmanager
def _variables_named() -> Iterator[None]:
    """A ValueError that begins with the name of a variable becomes the error of that place."""
    try:
        yield
    except ValueError as error:
        name, _, why = str(error).partition(": ")
        raise ConfigError.at(name, why) from None


def _service(plan: Plan) -> str:
    return str(plan.identity.info["name"])


def _is_on(signal: Signal, environ: Mapping[str, str] = os.environ) -> bool:
    """Is there somewhere to send these, or an exporter chosen for them?"""
    if environ.get("OTEL_SDK_DISABLED", "").lower() == "true":
        return False
    exporter = environ.get(f"OTEL_{signal}_EXPORTER", "")
    if exporter not in ("", "none", "otlp"):
        log.warning("OTEL_%s_EXPORTER: only otlp and none are known, not %r", signal, exporter)
        return False
    if exporter:
        return exporter == "otlp"
    return bool(environ.get(_ENDPOINT) or environ.get(f"OTEL_EXPORTER_OTLP_{signal}_ENDPOINT"))


def _is_installed() -> bool:
    from importlib.util import find_spec

    try:
        return find_spec("opentelemetry.proto") is not None
    except ModuleNotFoundError:
        return False
