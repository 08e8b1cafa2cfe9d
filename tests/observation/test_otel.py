"""Spans in OTLP, as protobuf's own library reads them: what is written by hand is what it means."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from tests.observation.collector import Caught, caught
from toolyard.observation import otel
from toolyard.observation.tracing.context import RemoteParent
from toolyard.observation.tracing.records import NOBODY, Outcome, Party, SpanRecord

TRACE, SPAN, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331", "00f067aa0ba902b7"
START, END = 1_700_000_000_000_000_000, 1_700_000_000_000_000_007
CLIENT: Party = ("tcp", "session", "127.0.0.1")


def record(
    request_id: str | int | None = 7,
    party: Party = CLIENT,
    outcome: Outcome | None = None,
    *,
    parent: str = PARENT,
    state: str = "",
    subject: str | None = "echo",
) -> SpanRecord:
    told = ("tools/call", subject, "2025-11-25", request_id, party, outcome)
    return SpanRecord("SERVER", TRACE, SPAN, parent, state, START, END, *told)


def sent(records: Sequence[SpanRecord], monkeypatch: pytest.MonkeyPatch) -> list[Span]:
    bodies: list[bytes] = []
    sender = otel.SpanSender("yard")
    monkeypatch.setattr(sender._collector, "send", bodies.append)
    sender(records)
    (resource,) = ExportTraceServiceRequest.FromString(bodies[0]).resource_spans
    (scope,) = resource.scope_spans
    assert {a.key: a.value.string_value for a in resource.resource.attributes}[
        "service.name"
    ] == "yard"
    assert scope.scope.name == "toolyard"
    return list(scope.spans)


def read(one: SpanRecord, monkeypatch: pytest.MonkeyPatch) -> Caught:
    (span,) = sent([one], monkeypatch)
    assert (span.start_time_unix_nano, span.end_time_unix_nano) == (START, END)
    return caught(span, "yard")


def test_a_plain_span(monkeypatch: pytest.MonkeyPatch) -> None:
    assert read(record(), monkeypatch) == Caught(
        "tools/call echo",
        "SERVER",
        TRACE,
        SPAN,
        PARENT,
        {
            "mcp.method.name": "tools/call",
            "mcp.protocol.version": "2025-11-25",
            "network.transport": "tcp",
            "gen_ai.tool.name": "echo",
            "gen_ai.operation.name": "execute_tool",
            "mcp.session.id": "session",
            "client.address": "127.0.0.1",
            "jsonrpc.request.id": "7",
        },
        (),
        failed=False,
        service="yard",
        state="",
    )


@pytest.mark.parametrize("length", [0, 1, 95, 96, 97, 127, 128, 129, 1024])
def test_ids_of_every_length(length: int, monkeypatch: pytest.MonkeyPatch) -> None:
    found = read(record("ä" * (length // 2) + "x" * (length % 2)), monkeypatch)
    assert len(found.attributes["jsonrpc.request.id"].encode()) == length


def test_what_is_not_known_is_not_said(monkeypatch: pytest.MonkeyPatch) -> None:
    found = read(record(None, ("tcp", None, None), parent="", subject=None), monkeypatch)
    assert found.name == "tools/call"
    assert found.parent == ""
    left = {"mcp.method.name", "mcp.protocol.version", "network.transport"}
    assert found.attributes.keys() == left


def test_failures_links_and_state(monkeypatch: pytest.MonkeyPatch) -> None:
    links = (RemoteParent(TRACE, PARENT, True), RemoteParent(TRACE, SPAN, False))
    outcome = Outcome("timeout", "too slow", links, (("process.exit.code", 3), ("share", 0.5)))
    (span,) = sent([record(outcome=outcome, state="a=b")], monkeypatch)
    found = caught(span, "yard")
    assert (found.state, found.links, found.failed) == ("a=b", (PARENT, SPAN), True)
    assert [link.flags for link in span.links] == [1, 0]
    assert (span.status.code, span.status.message) == (Status.STATUS_CODE_ERROR, "too slow")
    assert found.attributes["error.type"] == "timeout"
    assert found.attributes["process.exit.code"] == 3
    assert found.attributes["share"] == 0.5


def test_halves_of_characters_cost_no_span(monkeypatch: pytest.MonkeyPatch) -> None:
    half = "a\ud800"
    outcome = Outcome("error", half, (), (("process.executable.path", half),))
    odd = record(half, ("tcp", half, half), outcome, subject=half)
    found = [caught(span, "yard") for span in sent([odd, record(1)], monkeypatch)]
    assert found[0].name == "tools/call a?"
    assert found[0].attributes["process.executable.path"] == "a?"
    assert found[0].attributes["jsonrpc.request.id"] == "a?"
    assert found[1].attributes["jsonrpc.request.id"] == "1"


def test_many_spans_are_each_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    inner = SpanRecord(
        "INTERNAL", TRACE, SPAN, PARENT, "", START, END, "script greet", party=NOBODY
    )
    spans = sent([record(1), inner, *map(record, range(1000))], monkeypatch)
    found = [caught(span, "yard") for span in spans]
    assert len(found) == 1002
    assert (found[1].name, found[1].kind, found[1].attributes) == ("script greet", "INTERNAL", {})
    numbers = [span.attributes["jsonrpc.request.id"] for span in found[2:]]
    assert numbers == [str(number) for number in range(1000)]
