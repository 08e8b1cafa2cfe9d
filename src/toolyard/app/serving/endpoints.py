"""What HTTP answers beside /mcp and the page: /status and /registry, and what /metrics reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from time import monotonic

from toolyard.access.callers import Anyone, Authenticator
from toolyard.app.build import App
from toolyard.app.plan import Plan
from toolyard.catalog.snapshot import Catalog
from toolyard.http.response import Responder
from toolyard.protocol.call import JsonObject
from toolyard.sources.registry.format.export import FORMATS, export
from toolyard.sources.registry.masking import masked
from toolyard.transports.endpoint.app import HttpTransport
from toolyard.upstreams.health import Health
from toolyard.web.endpoint import BadQuery, Endpoint
from toolyard.web.views.status import Status


def status_endpoint(plan: Plan, app: App) -> Responder:
    status = Status(plan.identity.info, monotonic(), AppVitals(app))
    return Endpoint(lambda query: status.document())


@dataclass(frozen=True, slots=True)
class AppVitals:
    """How the parts of the app are doing at this moment."""

    app: App

    @property
    def catalog(self) -> Catalog:
        return self.app.keeper.current

    @property
    def health(self) -> tuple[Health, ...]:
        return self.app.federation.health()

    @property
    def refused(self) -> bool:
        return self.app.federation.registry_refused

    @property
    def troubles(self) -> Mapping[str, str]:
        return self.app.keeper.troubles.known

    @property
    def store(self) -> JsonObject | None:
        return self.app.standing.document() if self.app.standing is not None else None


@dataclass(frozen=True, slots=True)
class ServingVitals(AppVitals):
    """The same, and what is only known where clients connect."""

    transport: HttpTransport | None = None  # over stdio

    @property
    def sessions(self) -> int:
        return len(self.transport.sessions) if self.transport is not None else 0

    @property
    def parked_calls(self) -> int:
        return len(self.app.edge.parking)

    @property
    def running_tasks(self) -> int:
        return self.app.tasks.running

    @property
    def running_scripts(self) -> int:
        return self.app.scripts.load.running

    @property
    def waiting_scripts(self) -> int:
        return self.app.scripts.load.waiting

    @property
    def refused_credentials(self) -> int:
        return self.transport.refused_credentials if self.transport is not None else 0

    @property
    def limits_hit(self) -> int:
        return self.app.limits.hits if self.app.limits is not None else 0


def registry_endpoint(app: App, authenticator: Authenticator) -> Mapping[str, Responder]:
    """For the holder of the page's token; without a page for callers of /mcp, if they need one."""
    if isinstance(authenticator, Anyone):
        return {}

    def document(query: Mapping[str, str]) -> JsonObject:
        format_name = query.get("format", "native")
        if format_name not in FORMATS:
            raise BadQuery(f"format must be one of {', '.join(FORMATS)}")
        return export(effective(app, sound=format_name != "native"), format_name).document

    return {"/registry": Endpoint(document, authenticator)}


def effective(app: App, sound: bool = False) -> JsonObject:
    """All files as one, in the native form, with secrets masked; `sound`: without mistakes."""
    files = app.federation.registries.files
    documents = [masked(file.sound if sound else file.raw) for file in files]
    whole: JsonObject = {"schemaVersion": "1.0", "servers": [], "schemas": {}, "tools": []}
    for document in documents:
        whole["servers"] += document.get("servers") or []
        whole["schemas"] |= document.get("schemas") or {}
        whole["tools"] += document.get("tools") or []
        whole |= {"project": document["project"]} if "project" in document else {}
    return whole
