"""What is read when somebody asks, and costs no call anything: how the parts are doing now."""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Iterable, Iterator
from typing import Protocol

from toolyard import __version__
from toolyard.observation.series import Metric, Point, labelled, single
from toolyard.protocol.kinds import KINDS
from toolyard.upstreams.health import Health, Vitals

STATES = ("idle", "starting", "up", "down", "disabled")
_START = time.time()
_PAGE = resource.getpagesize()


class ServerVitals(Vitals, Protocol):
    """What metrics are read from."""

    @property
    def sessions(self) -> int: ...

    @property
    def parked_calls(self) -> int: ...

    @property
    def running_tasks(self) -> int: ...

    @property
    def running_scripts(self) -> int: ...

    @property
    def waiting_scripts(self) -> int: ...

    @property
    def refused_credentials(self) -> int:
        """Since the start, as the next one is."""

    @property
    def limits_hit(self) -> int: ...


def vital_metrics(vitals: ServerVitals) -> Iterator[Metric]:
    health = tuple(vitals.health)
    yield labelled("toolyard_build_info", "gauge", "Always 1.", "version", {__version__: 1})
    yield single("toolyard_sessions", "gauge", "Sessions over HTTP.", vitals.sessions)
    meaning = "Calls that wait for their client to come back with an answer."
    yield single("toolyard_parked_calls", "gauge", meaning, vitals.parked_calls)
    meaning = "Calls that go on as tasks."
    yield single("toolyard_tasks", "gauge", meaning, vitals.running_tasks)
    meaning = "Scripts that wait for their turn to run."
    yield single("toolyard_script_queue_length", "gauge", meaning, vitals.waiting_scripts)
    yield _children(vitals, health)
    meaning = "Requests that were refused for want of a credential."
    yield single(
        "toolyard_refused_credentials_total", "counter", meaning, vitals.refused_credentials
    )
    meaning = "Calls that were refused because their caller had made too many."
    yield single("toolyard_limits_hit_total", "counter", meaning, vitals.limits_hit)
    catalog = vitals.catalog
    entries = {str(kind): float(len(catalog.listed(kind))) for kind in KINDS}
    yield labelled("toolyard_catalog_entries", "gauge", "What is on offer.", "kind", entries)
    meaning = "Is an older state served because the registry files have mistakes?"
    yield single("toolyard_registry_refused", "gauge", meaning, int(vitals.refused))
    yield from _upstreams(health)
    yield from _process()


def _children(vitals: ServerVitals, health: Iterable[Health]) -> Metric:
    upstreams = sum(upstream.connections for upstream in health if upstream.transport == "stdio")
    counts = {"script": float(vitals.running_scripts), "upstream": float(upstreams)}
    meaning = "Child processes, by what they are."
    return labelled("toolyard_child_processes", "gauge", meaning, "kind", counts)


def _upstreams(health: tuple[Health, ...]) -> Iterator[Metric]:
    meaning = "1 for the state that a server is in, 0 for the others."
    points = tuple(
        Point((upstream.server, state), int(upstream.state == state))
        for upstream in health
        for state in STATES
    )
    yield Metric("toolyard_upstream_state", "gauge", meaning, ("server", "state"), points)
    restarts = {upstream.server: float(upstream.restarts) for upstream in health}
    meaning = "How often a server was started again."
    yield labelled("toolyard_upstream_restarts_total", "counter", meaning, "server", restarts)
    connections = {upstream.server: float(upstream.connections) for upstream in health}
    meaning = "Open connections to a server."
    yield labelled("toolyard_upstream_connections", "gauge", meaning, "server", connections)


def _process() -> Iterator[Metric]:
    """By the names that every client library of Prometheus gives them."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    seconds = used.ru_utime + used.ru_stime
    meaning = "CPU time of the process itself, user and system."
    yield single("process_cpu_seconds_total", "counter", meaning, seconds)
    meaning = "When the process started, in seconds since 1970."
    yield single("process_start_time_seconds", "gauge", meaning, _START)
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            pages = int(file.read().split()[1])
        descriptors = len(os.listdir("/proc/self/fd"))
    except OSError:
        return  # not Linux
    meaning = "Memory of the process that is in RAM."
    yield single("process_resident_memory_bytes", "gauge", meaning, pages * _PAGE)
    yield single("process_open_fds", "gauge", "Open file descriptors.", descriptors)
