"""The step that all transports share: a Call goes to the handler, its Result becomes bytes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeGuard

from toolyard.errors import INTERNAL_ERROR, METHOD_NOT_FOUND, ProtocolError, ToolError, shown
from toolyard.protocol.call import Call, Caller, Channel, Encoded, Handler, JsonObject, Result
from toolyard.protocol.identity import Identity
from toolyard.protocol.jsonrpc import Message, Request, decode, encode_result
from toolyard.protocol.modern import MAY_ASK, Envelope, discover, stamp
from toolyard.protocol.shape import shape_result
from toolyard.telemetry import logger
from toolyard.transports.bounds import Bounds
from toolyard.transports.channels import ModernChannel, Wire, refuse_unaskable
from toolyard.transports.parking import Parking
from toolyard.transports.seal import Sealer

log = logger("transports")
_MOST_ROUNDS = 32
_ASKABLE = frozenset({"elicitation", "sampling", "roots"})


@dataclass(frozen=True)
class Edge:
    """What every transport is given: the handler, who we are, and where calls wait."""

    handler: Handler
    identity: Identity
    parking: Parking = field(default_factory=lambda: Parking(Sealer()))
    # Refuse an unknown revision in `initialize` instead of negotiating.
    strict_revisions: bool = False
    # Accept batches from handshake clients whatever their revision.
    batches: bool = False
    # What a session hears of before its client has asked for a level.
    log_level: str = "info"
    bounds: Bounds = field(default_factory=Bounds)
    # Looks at every message before anything else does, and may turn it into an error.
    admit: Callable[[Message], Message] | None = None

    def decode(self, data: bytes) -> Message | list[Message]:
        """The messages in these bytes, as far as they are admitted."""
        message = decode(data, self.bounds.batch)
        if self.admit is None:
            return message
        return list(map(self.admit, message)) if isinstance(message, list) else self.admit(message)

    @cached_property
    def stamp(self) -> JsonObject:
        return stamp(self.identity)


async def handle(edge: Edge, call: Call, channel: Channel) -> Result:
    """Run the handler. The one catch-all: what escapes is a ProtocolError or a bug, logged."""
    try:
        return await edge.handler(call, channel)
    except ProtocolError:
        raise
    except ToolError as error:
        if call.method != "tools/call":
            raise ProtocolError(INTERNAL_ERROR, error.message) from None
        return failed(error)
    except Exception:
        log.exception("%s failed", call.method)
        raise ProtocolError(INTERNAL_ERROR, "Internal error") from None


def failed(error: ToolError) -> JsonObject:
    """A failure that the model should read."""
    result: JsonObject = {"content": [{"type": "text", "text": error.message}], "isError": True}
    if error.structured is not None:
        result["structuredContent"] = error.structured
    if error.meta:
        result["_meta"] = error.meta
    return result


async def in_rounds(edge: Edge, call: Call, channel: Channel) -> Result:
    """The whole of a call: what its result asks is put to the client, and it is made again."""
    for _ in range(_MOST_ROUNDS):
        result = await handle(edge, call, channel)
        if not _asks(result):
            return result
        try:
            answers = await channel.ask(result.get("inputRequests") or {})
        except ToolError as error:
            if call.method != "tools/call":
                raise ProtocolError(INTERNAL_ERROR, error.message) from None
            return failed(error)
        call = replace(call, input_responses=answers, request_state=result.get("requestState"))
    raise ProtocolError(INTERNAL_ERROR, f"still asking after {_MOST_ROUNDS} rounds")


def _asks(result: Result) -> TypeGuard[JsonObject]:
    return not isinstance(result, Encoded) and result.get("resultType") == "input_required"


def modern_call(
    request: Request,
    envelope: Envelope,
    caller: Caller,
    headers: Mapping[str, str] | None = None,
) -> Call:
    """The Call inside a modern request."""
    params = {**request.params}
    params.pop("_meta", None)
    responses, state = params.pop("inputResponses", None), params.pop("requestState", None)
    return Call(
        request.method,
        params,
        envelope.revision,
        envelope.client,
        caller,
        envelope.meta,
        responses if isinstance(responses, dict) else None,
        state if isinstance(state, str) else None,
        headers,
        request.id,
        envelope.level,
    )


def answer_modern(edge: Edge, call: Call, wire: Wire) -> Awaitable[Result]:
    """Answer a modern request. Raises ProtocolError."""
    if call.method not in call.revision.methods:
        raise ProtocolError(METHOD_NOT_FOUND, "Method not found", shown(call.method))
    if call.method == "server/discover":
        return _discover(edge, call)
    if call.request_state is not None:
        state = edge.parking.sealer.open(call.request_state, call)
        if "parked" in state:
            return edge.parking.resume(state["parked"], call, wire)
        call = replace(call, request_state=state["inner"])
    channel = ModernChannel(call, wire)
    handling = _handle_sealed(edge, call, channel)
    if call.method in MAY_ASK and not _ASKABLE.isdisjoint(call.client.capabilities):
        return edge.parking.begin(call, channel, handling)
    return handling


async def _discover(edge: Edge, call: Call) -> Result:
    return discover(edge.identity, call.revision, call.client)


async def _handle_sealed(edge: Edge, call: Call, channel: Channel) -> Result:
    """State that a script or an upstream gave us leaves here only under our seal."""
    result = await handle(edge, call, channel)
    if not _asks(result):
        return result
    refuse_unaskable(result.get("inputRequests") or {}, call.client, call.revision)
    state = result.get("requestState")
    if not isinstance(state, str):
        return result
    return {**result, "requestState": edge.parking.sealer.seal({"inner": state}, call)}


def encode(edge: Edge, call: Call, result: Result) -> bytes:
    if isinstance(result, dict):
        result = shape_result(call.method, result, call.revision, edge.stamp)
    return encode_result(call.id, result)
