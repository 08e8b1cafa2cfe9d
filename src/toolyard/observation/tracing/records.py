"""What is kept of a span that has ended, and what OpenTelemetry's conventions make of it. Pure.

While a call runs there is only time to write down what happened: a `SpanRecord`, one flat tuple of
short texts and numbers. Names and attributes are made of it in the thread that sends spans, by the
tables below: they are the one place that says what is in a span.

A record waits, perhaps with thousands of others, until the collector takes it. So it never refers
to arguments or results, and texts that come from outside are cut.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal, NamedTuple, TypeAlias

from toolyard.observation.operations import network_of
from toolyard.observation.outcomes import TOOL_ERROR
from toolyard.observation.tracing.context import RemoteParent
from toolyard.protocol.call import Encoded, Json, JsonObject, Result
from toolyard.protocol.codec import dumps

Party: TypeAlias = tuple[str, str | None, str | None]
SpanKind = Literal["SERVER", "CLIENT", "INTERNAL"]
AttributeValue: TypeAlias = str | int | float | bool
CALL = "tools/call"
ERROR, STATUS = "error.type", "rpc.response.status_code"
OPERATION, TOOL = "gen_ai.operation.name", "gen_ai.tool.name"
ARGUMENTS, RESULT = "gen_ai.tool.call.arguments", "gen_ai.tool.call.result"
LONGEST_PAYLOAD = 16_384
LONGEST_TEXT = 1024


class Outcome(NamedTuple):
    """What there is to say of few spans alone."""

    failure: str = ""  # in a word; empty if it worked
    message: str = ""  # and in more
    links: tuple[RemoteParent, ...] = ()
    attributes: tuple[tuple[str, AttributeValue], ...] = ()


TOOL_FAILED = Outcome(TOOL_ERROR)
PLAIN = Outcome()


class SpanRecord(NamedTuple):
    """A span that has ended. Requests write it as a plain tuple, in this order."""

    kind: SpanKind
    trace_id: str
    span_id: str
    parent_id: str  # empty: it has none
    state: str
    start_ns: int
    end_ns: int
    method: str  # of an INTERNAL span: its name
    subject: str | None = None
    version: str | None = None
    request_id: str | int | None = None
    # The transport; the session of a client, or the name of a server; the address of either.
    party: Party = ("", None, None)
    outcome: Outcome | None = None


class SpanAttribute(NamedTuple):
    """What an attribute is called, and where its value is found; None: the span has none."""

    name: str
    value: Callable[[SpanRecord], AttributeValue | None]


_REQUEST = (
    SpanAttribute("mcp.method.name", lambda span: span.method),
    SpanAttribute("mcp.protocol.version", lambda span: span.version),
    SpanAttribute(
        "jsonrpc.request.id", lambda span: None if span.request_id is None else str(span.request_id)
    ),
    SpanAttribute("network.transport", lambda span: network_of(span.party[0])),
)
ATTRIBUTES: Mapping[SpanKind, tuple[SpanAttribute, ...]] = {
    "SERVER": (
        *_REQUEST,
        SpanAttribute("mcp.session.id", lambda span: span.party[1]),
        SpanAttribute("client.address", lambda span: span.party[2]),
    ),
    "CLIENT": (
        *_REQUEST,
        SpanAttribute("toolyard.server.name", lambda span: span.party[1]),
        SpanAttribute("server.address", lambda span: span.party[2]),
    ),
    "INTERNAL": (),
}


class SpanSubject(NamedTuple):
    """What a method is about: the attribute, the param that has it, and is it in the name?"""

    attribute: str
    param: str
    in_name: bool


SUBJECTS: Mapping[str, SpanSubject] = {
    CALL: SpanSubject(TOOL, "name", True),
    "prompts/get": SpanSubject("gen_ai.prompt.name", "name", True),
    # A URI in the name would make as many names as there are resources.
    "resources/read": SpanSubject("mcp.resource.uri", "uri", False),
    "resources/subscribe": SpanSubject("mcp.resource.uri", "uri", False),
    "resources/unsubscribe": SpanSubject("mcp.resource.uri", "uri", False),
}


def name_of(record: SpanRecord) -> str:
    subject = SUBJECTS.get(record.method)
    if record.subject is None or subject is None or not subject.in_name:
        return record.method
    return f"{record.method} {record.subject}"


def attributes_of(record: SpanRecord) -> dict[str, AttributeValue]:
    outcome = record.outcome or PLAIN
    attributes = dict(outcome.attributes)
    for name, value_of in ATTRIBUTES[record.kind]:
        value = value_of(record)
        if value is not None:
            attributes[name] = value
    if record.subject is not None:
        attributes[SUBJECTS[record.method].attribute] = record.subject
        if record.method == CALL:
            attributes[OPERATION] = "execute_tool"
    if outcome.failure:
        attributes[ERROR] = outcome.failure
    return attributes


def subject_in(method: str, params: JsonObject) -> str | None:
    """What a request is about, of whatever somebody has sent."""
    subject = SUBJECTS.get(method)
    value = params.get(subject.param) if subject is not None else None
    return value[:LONGEST_TEXT] if isinstance(value, str) else None


def payload(value: Json | Result) -> str:
    text = value.body if isinstance(value, Encoded) else dumps(value)
    return text[:LONGEST_PAYLOAD].decode("utf-8", "replace")
