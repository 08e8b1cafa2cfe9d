"""Recorded calls to look at: a line each, or one in full, without secrets."""

from __future__ import annotations

from collections.abc import Iterable

from toolyard.catalog.snapshot import Catalog
from toolyard.context.sizes import tokens_in
from toolyard.protocol.call import Json, JsonObject
from toolyard.web.recording.hops import Hop
from toolyard.web.recording.traffic import CallRecord
from toolyard.web.views.faults import fault_in
from toolyard.web.views.privacy import private_arguments, secret_values, without_secrets


def line(record: CallRecord, secrets: Iterable[str]) -> JsonObject:
    texts = without_secrets({"name": record.name, "client": _client(record)}, secrets, frozenset())
    return {
        "number": record.number,
        "at": round(record.at, 3),
        "method": record.call.method,
        "name": texts["name"][:300],
        "client": texts["client"][:100],
        "caller": record.call.caller.name[:100],
        "revision": record.call.revision.date,
        "outcome": record.outcome,
        "ms": round(record.seconds * 1000, 2),
        "to": record.hops[-1].to if record.hops else None,
    }


def full(record: CallRecord, catalog: Catalog, secrets: frozenset[str]) -> JsonObject:
    """One call: its two hops, what was said meanwhile, and the times."""
    tool = catalog.tools.get(record.name) if record.call.method == "tools/call" else None
    private = private_arguments(tool.definition.get("inputSchema")) if tool else frozenset()
    secrets_here = secrets | secret_values(record.call.params, private)

    def clean(value: Json) -> Json:
        return without_secrets(value, secrets_here, private)

    return {
        **line(record, secrets),
        "params": clean(record.call.params),
        "result": clean(record.result),
        "error": clean(record.error),
        "fault": fault_in(record.result, record.hops),
        "tokens": {"in": tokens_in(record.call.params), "out": tokens_in(record.result)},
        "hops": [clean(_hop(hop, record.began)) for hop in record.hops],
        "messages": [
            {"at": _ms(message.at), "kind": message.kind, "data": clean(message.data)}
            for message in record.messages
        ],
    }


def _hop(hop: Hop, began: float) -> JsonObject:
    return {
        "to": hop.to,
        "at": _ms(hop.began - began),
        "ms": _ms(hop.ended - hop.began) if hop.ended else None,
        "arguments": hop.arguments,
        "result": hop.result,
        "error": hop.error,
    }


def _client(record: CallRecord) -> str:
    info = record.call.client.info
    name, version = info.get("name"), info.get("version")
    return " ".join(str(part) for part in (name, version) if part)


def _ms(seconds: float) -> float:
    return round(seconds * 1000, 3)
