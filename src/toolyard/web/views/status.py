"""How everything is doing, for monitors: without paths, log lines or values of the registry."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from time import monotonic
from typing import Protocol

from toolyard import __version__
from toolyard.protocol.call import JsonObject
from toolyard.protocol.kinds import KINDS
from toolyard.protocol.revisions import ALL
from toolyard.upstreams.health import Health, Vitals


class StatusVitals(Vitals, Protocol):
    """What a status is read from."""

    @property
    def troubles(self) -> Mapping[str, str]:
        """What is failing, and will be tried again."""

    @property
    def store(self) -> JsonObject | None:
        """How what is shared with other processes is doing; None where nothing is."""


@dataclass(frozen=True, slots=True)
class Status:
    """The document at `/status`, made anew each time."""

    info: JsonObject  # what the server calls itself
    started: float
    vitals: StatusVitals

    def document(self) -> JsonObject:
        vitals = self.vitals
        catalog, servers = vitals.catalog, [_server(health) for health in vitals.health]
        degraded = any(server["state"] == "down" for server in servers) or vitals.refused
        troubles, store = vitals.troubles, vitals.store
        shares = store is None or not (store["error"] or store["differences"])
        fine = shares and not (degraded or catalog.broken or troubles)
        return {
            "status": "ok" if fine else "degraded",
            "version": __version__,
            "uptime": round(monotonic() - self.started, 1),
            "server": self.info,
            "revisions": sorted(ALL),
            "entries": {kind: len(catalog.listed(kind)) for kind in KINDS},
            "registry": "refused" if vitals.refused else "ok",
            "servers": servers,
            **({"troubles": sorted(troubles)} if troubles else {}),
            **({"store": store} if store is not None else {}),
        }


def _server(health: Health) -> JsonObject:
    fields = {
        "name": health.server,
        "state": health.state,
        "reason": health.reason,
        "transport": health.transport,
        "revision": health.revision,
        "connections": health.connections,
        "restarts": health.restarts,
        "calls": health.calls,
        "lastError": health.last_error,
        "retryIn": None if health.retry_in is None else round(health.retry_in, 1),
    }
    return {key: value for key, value in fields.items() if value is not None}
