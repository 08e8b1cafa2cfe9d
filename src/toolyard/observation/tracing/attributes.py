"""What spans say, by the names of OpenTelemetry's conventions for MCP. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from toolyard.protocol.call import Encoded, Json, JsonObject, Result
from toolyard.protocol.codec import dumps

METHOD, VERSION, SESSION = "mcp.method.name", "mcp.protocol.version", "mcp.session.id"
REQUEST, TRANSPORT = "jsonrpc.request.id", "network.transport"
CLIENT_ADDRESS, SERVER_ADDRESS = "client.address", "server.address"
UPSTREAM = "toolyard.server.name"
OPERATION, TOOL = "gen_ai.operation.name", "gen_ai.tool.name"
ERROR, STATUS = "error.type", "rpc.response.status_code"
ARGUMENTS, RESULT = "gen_ai.tool.call.arguments", "gen_ai.tool.call.result"
LONGEST_PAYLOAD = 16_384


class SpanSubject(NamedTuple):
    """What a method is about: the attribute, the param that has it, and is it in the name?"""

    attribute: str
    param: str
    in_name: bool


SUBJECTS: Mapping[str, SpanSubject] = {
    "tools/call": SpanSubject(TOOL, "name", True),
    "prompts/get": SpanSubject("gen_ai.prompt.name", "name", True),
    # A URI in the name would make as many names as there are resources.
    "resources/read": SpanSubject("mcp.resource.uri", "uri", False),
    "resources/subscribe": SpanSubject("mcp.resource.uri", "uri", False),
    "resources/unsubscribe": SpanSubject("mcp.resource.uri", "uri", False),
}


class Described(NamedTuple):
    name: str
    attributes: dict[str, str | int | float | bool]


def described(method: str, params: JsonObject) -> Described:
    """The name of a span for this request, and what it is about."""
    subject = SUBJECTS.get(method)
    value = params.get(subject.param) if subject is not None else None
    if subject is None or not isinstance(value, str):
        return Described(method, {METHOD: method})
    name = f"{method} {value}" if subject.in_name else method
    if method == "tools/call":
        return Described(name, {METHOD: method, OPERATION: "execute_tool", TOOL: value})
    return Described(name, {METHOD: method, subject.attribute: value})


def payload(value: Json | Result) -> str:
    text = value.body if isinstance(value, Encoded) else dumps(value)
    return text[:LONGEST_PAYLOAD].decode("utf-8", "replace")
