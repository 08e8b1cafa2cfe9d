"""How everything is doing, for monitors: no path, no log line, no value of the registry."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from time import monotonic

from toolyard import __version__
from toolyard.catalog.snapshot import Catalog
from toolyard.protocol.call import JsonObject
from toolyard.protocol.kinds import KINDS
from toolyard.protocol.revisions import ALL
from toolyard.upstreams.health import Health


@dataclass(frozen=True, slots=True)
class Status:
    info: JsonObject  # what the server calls itself
    catalog: Callable[[], Catalog]
    health: Callable[[], Iterable[Health]]
    refused: Callable[[], bool]  # are the registry files of this moment wrong?
    started: float
    troubles: Callable[[], Mapping[str, str]] = dict  # what fails and is tried again

    def document(self) -> JsonObject:
        catalog, servers = self.catalog(), [_server(one) for one in self.health()]
        failing = any(one["state"] == "down" for one in servers) or self.refused()
        troubles = self.troubles()
        return {
            "status": "degraded" if failing or catalog.broken or troubles else "ok",
            "version": __version__,
            "uptime": round(monotonic() - self.started, 1),
            "server": self.info,
            "revisions": sorted(ALL),
            "entries": {kind: len(catalog.listed(kind)) for kind in KINDS},
            "registry": "refused" if self.refused() else "ok",
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
