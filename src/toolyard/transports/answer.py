"""The step that all transports share: a Call goes to the handler, its Result becomes bytes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from time import perf_counter
from typing import Any, Protocol, TypeAlias

from toolyard.errors import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    URL_REQUIRED,
    ProtocolError,
    ToolError,
    shown,
)
from toolyard.protocol.asking.asked import Asked, remembered
from toolyard.protocol.asking.putting import fit_all, refuse_unaskable
from toolyard.protocol.asking.questions import asked_by, urls_of
from toolyard.protocol.asking.rounds import (
    INPUT_REQUIRED,
    RESPONSES,
    ROUND_PARAMS,
    STATE,
    answered,
    asking,
)
from toolyard.protocol.call import (
    Call,
    Caller,
    Channel,
    Encoded,
    Handler,
    JsonObject,
    Result,
    Session,
)
from toolyard.protocol.client import ASKED
from toolyard.protocol.eras.manner import PLAIN, Manner
from toolyard.protocol.eras.modern import MAY_ASK, Envelope, discover, stamp
from toolyard.protocol.failures import failure
from toolyard.protocol.identity import Identity
from toolyard.protocol.jsonrpc import Message, RpcRequest, decode, encode_result, encode_text
from toolyard.protocol.revisions import Revision
from toolyard.protocol.shape import Preamble, preamble_of, shape_result
from toolyard.protocol.verbatim import Verbatim, passed_on
from toolyard.telemetry import logger
from toolyard.transports.bounds import Bounds
from toolyard.transports.channels import ModernChannel, Send, modern_wire
from toolyard.transports.parking import Parking
from toolyard.transports.seal import Sealer

log = logger("transports")
_SHORT = 4096  # a copy of so few bytes is cheaper than a view


# What answers a call; the way back is a Channel, a Send or a session.
Work: TypeAlias = "Callable[[Edge, Call, Any], Awaitable[Result]]"


class Observe(Protocol):
    """Looks on while the request of a client is answered, on a session if it has one.

    The work is `work(edge, call, way)`: a closure for each request would cost more than looking.
    """

    def __call__(
        self,
        call: Call,
        session: Session | None,
        work: Work,
        edge: Edge,
        way: object,
    ) -> Awaitable[Result]: ...


class NoteRequest(Protocol):
    """Is told of each request of a client that was answered, and when it began by `perf_counter`.

    Without a result it has failed, of the exception that is being handled.
    """

    def __call__(self, call: Call, result: Result | None, start: float) -> None: ...


async def uncounted(_call: Call) -> None:
    """Sessions may be opened without a limit."""


@dataclass(frozen=True)
class Edge:
    """What every transport is given: the handler, who we are, and where calls wait."""

    handler: Handler
    identity: Identity
    parking: Parking = field(default_factory=lambda: Parking(Sealer()))
    manner: Manner = PLAIN
    # Accept batches from handshake clients whatever their revision.
    batches: bool = False
    # The log level of a session whose client has not asked for one.
    log_level: str = "info"
    bounds: Bounds = field(default_factory=Bounds)
    # Who we are to a caller: what we can do for it, what its model should know.
    seen_by: Callable[[Identity, Caller], Identity] = lambda identity, _caller: identity
    # Looks at every message before anything else does, and may turn it into an error.
    admit: Callable[[Message], Message] | None = None
    # Counts what no handler sees: the opening of a session. Raises ProtocolError.
    count: Callable[[Call], Awaitable[None]] = uncounted
    observe: Observe | None = None
    # Whoever answers a request calls it: another coroutine around each would cost more.
    note: NoteRequest | None = None

    def identity_for(self, caller: Caller) -> Identity:
        return self.seen_by(self.identity, caller)

    def decode(self, data: bytes) -> Message | list[Message]:
        """The messages in these bytes, as far as they are admitted."""
        message = decode(data, self.bounds.batch)
        if self.admit is None:
            return message
        return list(map(self.admit, message)) if isinstance(message, list) else self.admit(message)

    @cached_property
    def stamp(self) -> JsonObject:
        return stamp(self.identity)

    @cached_property
    def preamble(self) -> Preamble:
        return Preamble.of(self.stamp)


async def handle(edge: Edge, call: Call, channel: Channel) -> Result:
    """Run the handler: what escapes is a ProtocolError, or was a bug and is logged."""
    try:
        return await edge.handler(call, channel)
    except ProtocolError:
        raise
    except Exception as error:
        return _failed(call, error)


def _failed(call: Call, error: Exception) -> Result:
    """The result of a call that failed with this error, if it has one."""
    if not isinstance(error, ToolError):
        raise bug(call.method) from None
    if call.method != "tools/call":
        raise ProtocolError(INTERNAL_ERROR, error.message) from None
    return failure(error)


def bug(method: str) -> ProtocolError:
    """What the client is told of an error nobody foresaw; the log has the rest."""
    log.exception("%s failed", method)
    return ProtocolError(INTERNAL_ERROR, "Internal error")


def observed(
    edge: Edge, call: Call, session: Session | None, work: Work, way: object
) -> Awaitable[Result]:
    """The work, and whoever looks on."""
    if edge.observe is None:
        return work(edge, call, way)
    return edge.observe(call, session, work, edge, way)


async def noted(edge: Edge, call: Call, session: Session | None, work: Work, way: object) -> Result:
    """The same for requests that need not be as cheap as can be."""
    start, result = perf_counter(), None
    try:
        result = await observed(edge, call, session, work, way)
        return result
    finally:
        if edge.note is not None:
            edge.note(call, result, start)


def in_rounds(edge: Edge, call: Call, channel: Channel) -> Awaitable[Result]:
    """A call with its rounds: while its result asks something, ask the client and call again."""
    return observed(edge, call, channel.session, _in_rounds, channel)


async def _in_rounds(edge: Edge, call: Call, channel: Channel) -> Result:
    start, result = perf_counter() if edge.note is not None else 0.0, None
    try:
        first = await handle(edge, call, channel)
        if isinstance(first, Encoded) or first.get("resultType") != INPUT_REQUIRED:
            result = first
        else:
            result = await _asked(edge, call, channel, first)
        return result
    finally:
        if edge.note is not None:
            edge.note(call, result, start)


async def _asked(edge: Edge, call: Call, channel: Channel, result: JsonObject) -> Result:
    try:
        return await answered(result, call, lambda again: handle(edge, again, channel), channel.ask)
    except ToolError as error:
        if call.method != "tools/call":
            raise ProtocolError(INTERNAL_ERROR, error.message) from None
        return failure(error)


def modern_call(
    request: RpcRequest,
    envelope: Envelope,
    revision: Revision,
    caller: Caller,
    headers: Mapping[str, str] | None = None,
    address: Mapping[str, str] | None = None,
) -> Call:
    """The Call inside a modern request."""
    params, responses, state = {**request.params}, None, None
    params.pop("_meta", None)
    if not ROUND_PARAMS.isdisjoint(params):
        responses, state = params.pop(RESPONSES, None), params.pop(STATE, None)
    return Call(
        request.method,
        params,
        revision,
        envelope.client,
        caller,
        envelope.meta,
        responses if isinstance(responses, dict) else None,
        state if isinstance(state, str) else None,
        headers,
        request.id,
        envelope.level,
        address=address,
    )


def answer_modern(edge: Edge, call: Call, send: Send) -> Awaitable[Result]:
    """Answer a modern request, which the caller notes. Raises ProtocolError."""
    if edge.observe is None:
        return _answer_modern(edge, call, send)
    return edge.observe(call, None, _answer_modern, edge, send)


def answer_modern_noted(edge: Edge, call: Call, send: Send) -> Awaitable[Result]:
    return noted(edge, call, None, _answer_modern, send)


def _answer_modern(edge: Edge, call: Call, send: Send) -> Awaitable[Result]:
    if call.method not in call.revision.methods:
        raise ProtocolError(METHOD_NOT_FOUND, "Method not found", shown(call.method))
    if call.method == "server/discover":
        return _discover(edge, call)
    if call.request_state is not None:
        state = edge.parking.sealer.open(call.request_state, call)
        if "parked" in state:
            return edge.parking.resume(state["parked"], call, modern_wire(call, send))
        if "opening" in state:
            if _declined(call.input_responses or {}):
                return _not_opened(call)
            return _begin(edge, replace(call, request_state=None, input_responses=None), send)
        return _retry(edge, call, state, send)
    return _begin(edge, call, send)


def _retry(edge: Edge, call: Call, state: JsonObject, send: Send) -> Awaitable[Result]:
    """The client is back with answers for whoever asked: they must fit the questions."""
    inquiry = Asked(state.get("asked", {}), state.get("fit"), state.get("rounds", 0))
    responses = call.input_responses or {}
    try:
        fit_answers = inquiry.take(
            {key: responses[key] for key in inquiry.questions if key in responses}
        )
    except ToolError as error:
        return _refuse(call, error)
    if fit_answers is None:
        return _ask_again(edge, call, inquiry, state["inner"])
    answers = {**responses, **fit_answers} if call.input_responses is not None else None
    return _begin(edge, replace(call, request_state=state["inner"], input_responses=answers), send)


async def _refuse(call: Call, error: ToolError) -> Result:
    if call.method != "tools/call":
        raise ProtocolError(INVALID_PARAMS, error.message)
    return failure(error)


async def _ask_again(edge: Edge, call: Call, inquiry: Asked, inner: str | None) -> Result:
    """Only what did not fit: the answers that did are in the state, and we hold nothing."""
    state = {"asked": inquiry.questions, "fit": inquiry.fit, "rounds": inquiry.rounds}
    token = edge.parking.sealer.seal({"inner": inner, **state}, call)
    return asking(inquiry.current, token)


def _begin(edge: Edge, call: Call, send: Send) -> Awaitable[Result]:
    channel = ModernChannel(call, send)
    work = _handle_sealed(edge, call, channel)
    if call.method in MAY_ASK and not ASKED.isdisjoint(call.client.capabilities):
        return edge.parking.begin(call, channel, work)
    return work


async def _discover(edge: Edge, call: Call) -> Result:
    return discover(edge.identity_for(call.caller), call.revision, call.client)


def _declined(answers: JsonObject) -> bool:
    return any(
        not isinstance(answer, dict) or answer.get("action") != "accept"
        for answer in answers.values()
    )


async def _not_opened(call: Call) -> Result:
    error = ToolError("the user did not open the page that this call needs first")
    if call.method != "tools/call":
        raise ProtocolError(INTERNAL_ERROR, error.message)
    return failure(error)


async def _handle_sealed(edge: Edge, call: Call, channel: Channel) -> Result:
    """The state of a script or an upstream leaves here only under our seal."""
    try:
        result = await edge.handler(call, channel)  # not through `handle`: every call comes here
    except ProtocolError as error:
        if error.code != URL_REQUIRED or call.method not in MAY_ASK:
            raise
        return _ask_to_open(edge, call, error)
    except Exception as error:
        return _failed(call, error)
    if isinstance(result, Encoded) or result.get("resultType") != INPUT_REQUIRED:
        return result
    questions = asked_by(result)
    refuse_unaskable(questions, call.client, call.revision)
    state, memory = result.get(STATE), remembered(questions)
    if not isinstance(state, str) and not memory:
        return result
    inner = state if isinstance(state, str) else None
    token = edge.parking.sealer.seal({"inner": inner, "asked": memory}, call)
    return {**result, STATE: token}


def _ask_to_open(edge: Edge, call: Call, error: ProtocolError) -> Result:
    """What 2025-11-25 expresses as an error: open these URLs, then call again."""
    questions = urls_of(error)
    if not questions:
        raise error
    refuse_unaskable(questions, call.client, call.revision)
    renditions = fit_all(questions, call.revision)
    token = edge.parking.sealer.seal({"opening": True}, call)
    return asking({key: rendition.as_question() for key, rendition in renditions.items()}, token)


def encode(edge: Edge, call: Call, result: Result) -> bytes:
    if type(result) is Verbatim:
        return _encode_verbatim(edge, call, result)
    if isinstance(result, Encoded):
        return encode_result(call.id, result)
    return encode_result(call.id, shape_result(call.method, result, call.revision, edge.stamp))


def _encode_verbatim(edge: Edge, call: Call, result: Verbatim) -> bytes:
    text = result.text
    preamble = preamble_of(call.method, result, call.revision, edge.preamble)
    if preamble is not None:
        rest = text[1:] if len(text) < _SHORT else memoryview(text)[1:]
        return encode_text(call.id, preamble, rest)
    fit = shape_result(call.method, result, call.revision, edge.stamp)
    fit_text = passed_on(result, fit)
    return encode_result(call.id, fit) if fit_text is None else encode_text(call.id, fit_text)
