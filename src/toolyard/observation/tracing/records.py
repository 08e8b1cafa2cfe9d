"""What is kept of a span that has ended, and what OpenTelemetry's conventions make of it. Pure.

While a call runs there is only time to write down what happened: a `SpanRecord`, one flat tuple of
short texts and numbers. Names and attributes are made of it in the thread that sends spans, by the
tables below: they are the one place that says what is in a span.

A record waits, perhaps with thousands of others, until the collector takes it. So it never refers
to arguments or results, and texts that come from outside are cut.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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
REQUEST_ID, ERROR, STATUS = "jsonrpc.request.id", "error.type", "rpc.response.status_code"
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
NOBODY: Party = ("", None, None)


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
    party: Party = NOBODY
    outcome: Outcome | None = None


# What the party of a span is called: the session or the name, and the address.
_PARTIES: Mapping[SpanKind, tuple[str, str]] = {
    "SERVER": ("mcp.session.id", "client.address"),
    "CLIENT": ("toolyard.server.name", "server.address"),
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


class SpanLikeness(NamedTuple):
    """What the spans of many requests have in common: all but ids, times and outcomes."""

    kind: SpanKind
    method: str
    subject: str | None
    version: str | None
    party: Party

    @property
    def name(self) -> str:
        subject = SUBJECTS.get(self.method)
        if self.subject is None or subject is None or not subject.in_name:
            return self.method
        return f"{self.method} {self.subject}"

    def attributes(self) -> Iterator[tuple[str, AttributeValue]]:
        if self.kind == "INTERNAL":
            return
        transport, *whose = self.party
        yield "mcp.method.name", self.method
        yield "network.transport", network_of(transport)
        if self.version is not None:
            yield "mcp.protocol.version", self.version
        if self.subject is not None:
            yield SUBJECTS[self.method].attribute, self.subject
            if self.method == CALL:
                yield OPERATION, "execute_tool"
        for name, value in zip(_PARTIES[self.kind], whose, strict=True):
            if value is not None:
                yield name, value


def subject_in(method: str, params: JsonObject) -> str | None:
    """What a request is about, of whatever somebody has sent."""
    subject = SUBJECTS.get(method)
    value = params.get(subject.param) if subject is not None else None
    return value[:LONGEST_TEXT] if isinstance(value, str) else None


def payload(value: Json | Result) -> str:
    text = value.body if isinstance(value, Encoded) else dumps(value)
    return text[:LONGEST_PAYLOAD].decode("utf-8", "replace")
