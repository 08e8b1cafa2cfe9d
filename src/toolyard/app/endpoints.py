"""What HTTP answers beside /mcp and the page: /status and /registry."""

from __future__ import annotations

from collections.abc import Mapping
from time import monotonic

from toolyard.access.callers import Anyone, Authenticator
from toolyard.app.build import App, Plan
from toolyard.http.response import Responder
from toolyard.protocol.call import JsonObject
from toolyard.sources.registry.format.export import FORMATS, export
from toolyard.sources.registry.masking import masked
from toolyard.web.endpoint import BadQuery, Endpoint
from toolyard.web.views.status import Status


def status_endpoint(plan: Plan, app: App) -> Responder:
    status = Status(
        info=plan.identity.info,
        catalog=lambda: app.keeper.current,
        health=app.pool.health if app.pool is not None else tuple,
        refused=lambda: app.gateway is not None and app.gateway.refused is not None,
        started=monotonic(),
        troubles=lambda: app.keeper.troubles.known,
    )
    return Endpoint(lambda query: status.document())


def registry_endpoint(app: App, authenticator: Authenticator) -> Mapping[str, Responder]:
    """For the page's token; without a page for whoever may use /mcp, if that is not anyone."""
    if isinstance(authenticator, Anyone):
        return {}

    def document(query: Mapping[str, str]) -> JsonObject:
        wanted = query.get("format", "native")
        if wanted not in FORMATS:
            raise BadQuery(f"format must be one of {', '.join(FORMATS)}")
        return export(effective(app, sound=wanted != "native"), wanted).document

    return {"/registry": Endpoint(document, authenticator)}


def effective(app: App, sound: bool = False) -> JsonObject:
    """All files as one, in the native form, as it may be shown; `sound`: without mistakes."""
    files = app.gateway.registries.files if app.gateway is not None else ()
    documents = [masked(one.sound if sound else one.raw) for one in files]
    whole: JsonObject = {"schemaVersion": "1.0", "servers": [], "schemas": {}, "tools": []}
    for one in documents:
        whole["servers"] += one.get("servers") or []
        whole["schemas"] |= one.get("schemas") or {}
        whole["tools"] += one.get("tools") or []
        whole |= {"project": one["project"]} if "project" in one else {}
    return whole
