"""How everything is doing, for monitors: no path, no log line, no value of the registry."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from time import monotonic
from typing import Protocol

from toolyard import __version__
from toolyard.catalog.snapshot import Catalog
from toolyard.protocol.call import JsonObject
from toolyard.protocol.kinds import KINDS
from toolyard.protocol.revisions import ALL
from toolyard.upstreams.health import Health


class Vitals(Protocol):
    """What a status is read from."""

    @property
    def catalog(self) -> Catalog: ...

    @property
    def health(self) -> Iterable[Health]: ...

    @property
    def refused(self) -> bool:
        """Are the registry files of this moment wrong?"""

    @property
    def troubles(self) -> Mapping[str, str]:
        """What fails and is tried again."""


@dataclass(frozen=True, slots=True)
class Status:
    info: JsonObject  # what the server calls itself
    started: float
    vitals: Vitals

    def document(self) -> JsonObject:
        vitals = self.vitals
        catalog, servers = vitals.catalog, [_server(one) for one in vitals.health]
        failing = any(one["state"] == "down" for one in servers) or vitals.refused
        troubles = vitals.troubles
        return {
            "status": "degraded" if failing or catalog.broken or troubles else "ok",
            "version": __version__,
            "uptime": round(monotonic() - self.started, 1),
            "server": self.info,
            "revisions": sorted(ALL),
            "entries": {kind: len(catalog.listed(kind)) for kind in KINDS},
            "registry": "refused" if vitals.refused else "ok",
            "servers": servers,
            **({"troubles": sorted(troubles)} if troubles else {}),
        }


def _server(health: Health) -> JsonObject:
    known = {
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
    return {key: value for key, value in known.items() if value is not None}
