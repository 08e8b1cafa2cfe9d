"""The step that all transports share: a Call goes to the handler, its Result becomes bytes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from toolyard.errors import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    URL_REQUIRED,
    ProtocolError,
    ToolError,
    shown,
)
from toolyard.protocol.asking.questions import asked_by, urls_of
from toolyard.protocol.asking.rounds import RESPONSES, STATE, answered, asking, asks
from toolyard.protocol.call import Call, Caller, Channel, Handler, JsonObject, Result
from toolyard.protocol.client import ASKED
from toolyard.protocol.identity import Identity
from toolyard.protocol.jsonrpc import Message, RpcRequest, decode, encode_result
from toolyard.protocol.manner import PLAIN, Manner
from toolyard.protocol.modern import MAY_ASK, Envelope, discover, stamp
from toolyard.protocol.shape import shape_result
from toolyard.telemetry import logger
from toolyard.transports.asked import Asked, remembered
from toolyard.transports.bounds import Bounds
from toolyard.transports.channels import ModernChannel, Wire, fit_all, refuse_unaskable
from toolyard.transports.parking import Parking
from toolyard.transports.seal import Sealer

log = logger("transports")


@dataclass(frozen=True)
class Edge:
    """What every transport is given: the handler, who we are, and where calls wait."""

    handler: Handler
    identity: Identity
    parking: Parking = field(default_factory=lambda: Parking(Sealer()))
    manner: Manner = PLAIN
    # Accept batches from handshake clients whatever their revision.
    batches: bool = False
    # What a session hears of before its client has asked for a level.
    log_level: str = "info"
    bounds: Bounds = field(default_factory=Bounds)
    # What stands behind us for a caller; None where that is not known, or everything.
    offered: Callable[[Caller], JsonObject | None] = lambda _caller: None
    # Looks at every message before anything else does, and may turn it into an error.
    admit: Callable[[Message], Message] | None = None
    # Counts what no handler sees: the opening of a session. Raises ProtocolError.
    count: Callable[[Call], None] = lambda _call: None

    def identity_for(self, caller: Caller) -> Identity:
        offered = self.offered(caller)
        return self.identity if offered is None else self.identity._replace(capabilities=offered)

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
    """Run the handler: what escapes is a ProtocolError, or was a bug and is logged."""
    try:
        return await edge.handler(call, channel)
    except ProtocolError:
        raise
    except ToolError as error:
        if call.method != "tools/call":
            raise ProtocolError(INTERNAL_ERROR, error.message) from None
        return failed(error)
    except Exception:
        raise bug(call.method) from None


def bug(method: str) -> ProtocolError:
    """What the client reads of what nobody foresaw; we read all of it."""
    log.exception("%s failed", method)
    return ProtocolError(INTERNAL_ERROR, "Internal error")


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
    result = await handle(edge, call, channel)
    if not asks(result):
        return result
    try:
        return await answered(result, call, lambda again: handle(edge, again, channel), channel.ask)
    except ToolError as error:
        if call.method != "tools/call":
            raise ProtocolError(INTERNAL_ERROR, error.message) from None
        return failed(error)


def modern_call(
    request: RpcRequest,
    envelope: Envelope,
    caller: Caller,
    headers: Mapping[str, str] | None = None,
) -> Call:
    """The Call inside a modern request."""
    params = {**request.params}
    params.pop("_meta", None)
    responses, state = params.pop(RESPONSES, None), params.pop(STATE, None)
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
        if "opening" in state:
            if _declined(call.input_responses or {}):
                return _not_opened(call)
            return _begun(edge, replace(call, request_state=None, input_responses=None), wire)
        return _retried(edge, call, state, wire)
    return _begun(edge, call, wire)


def _retried(edge: Edge, call: Call, state: JsonObject, wire: Wire) -> Awaitable[Result]:
    """The client is back with answers for whoever asked: those must fit what was asked."""
    asked = Asked(state.get("asked", {}), state.get("fit"), state.get("rounds", 0))
    responses = call.input_responses or {}
    try:
        fitting = asked.take({key: responses[key] for key in asked.questions if key in responses})
    except ToolError as error:
        return _refused(call, error)
    if fitting is None:
        return _ask_again(edge, call, asked, state["inner"])
    answers = {**responses, **fitting} if call.input_responses is not None else None
    return _begun(edge, replace(call, request_state=state["inner"], input_responses=answers), wire)


async def _refused(call: Call, error: ToolError) -> Result:
    if call.method != "tools/call":
        raise ProtocolError(INVALID_PARAMS, error.message)
    return failed(error)


async def _ask_again(edge: Edge, call: Call, asked: Asked, inner: str | None) -> Result:
    """Only what does not fit: the answers that do are in the state. Nothing is held meanwhile."""
    rest = {"asked": asked.questions, "fit": asked.fit, "rounds": asked.rounds}
    sealed = edge.parking.sealer.seal({"inner": inner, **rest}, call)
    return asking(asked.shown, sealed)


def _begun(edge: Edge, call: Call, wire: Wire) -> Awaitable[Result]:
    channel = ModernChannel(call, wire)
    handling = _handle_sealed(edge, call, channel)
    if call.method in MAY_ASK and not ASKED.isdisjoint(call.client.capabilities):
        return edge.parking.begin(call, channel, handling)
    return handling


async def _discover(edge: Edge, call: Call) -> Result:
    return discover(edge.identity_for(call.caller), call.revision, call.client)


def _declined(answers: JsonObject) -> bool:
    return any(
        not isinstance(one, dict) or one.get("action") != "accept" for one in answers.values()
    )


async def _not_opened(call: Call) -> Result:
    error = ToolError("the user did not open what this call needs to be opened first")
    if call.method != "tools/call":
        raise ProtocolError(INTERNAL_ERROR, error.message)
    return failed(error)


async def _handle_sealed(edge: Edge, call: Call, channel: Channel) -> Result:
    """State that a script or an upstream gave us leaves here only under our seal."""
    try:
        result = await handle(edge, call, channel)
    except ProtocolError as error:
        if error.code != URL_REQUIRED or call.method not in MAY_ASK:
            raise
        return _ask_to_open(edge, call, error)
    if not asks(result):
        return result
    questions = asked_by(result)
    refuse_unaskable(questions, call.client, call.revision)
    state, asked = result.get(STATE), remembered(questions)
    if not isinstance(state, str) and not asked:
        return result
    inner = state if isinstance(state, str) else None
    sealed = edge.parking.sealer.seal({"inner": inner, "asked": asked}, call)
    return {**result, STATE: sealed}


def _ask_to_open(edge: Edge, call: Call, error: ProtocolError) -> Result:
    """What 2025-11-25 says with an error: open these URLs, and call again."""
    questions = urls_of(error)
    if not questions:
        raise error
    refuse_unaskable(questions, call.client, call.revision)
    fitted = fit_all(questions, call.revision)
    shown = {key: question.as_question() for key, question in fitted.items()}
    return asking(shown, edge.parking.sealer.seal({"opening": True}, call))


def encode(edge: Edge, call: Call, result: Result) -> bytes:
    if isinstance(result, dict):
        result = shape_result(call.method, result, call.revision, edge.stamp)
    return encode_result(call.id, result)
