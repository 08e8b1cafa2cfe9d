"""Streamable HTTP of 2026-07-28: every POST stands alone; leaving the stream is cancelling."""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

from toolyard.errors import INVALID_PARAMS, INVALID_REQUEST, ProtocolError
from toolyard.protocol.call import Call, JsonObject
from toolyard.protocol.eras.headers import MCP_NAME, PARAM_PREFIX, mismatch
from toolyard.protocol.eras.modern import Envelope, check_routing, open_envelope
from toolyard.protocol.jsonrpc import (
    Malformed,
    Message,
    Notification,
    RpcRequest,
    encode_error,
)
from toolyard.protocol.revisions import LATEST
from toolyard.protocol.shape import shape_error
from toolyard.transports.answer import Edge, answer_modern, bug, encode, modern_call
from toolyard.transports.endpoint.exchange import MODERN_STATUS, Exchange

if TYPE_CHECKING:
    from toolyard.transports.endpoint.elsewhere import Elsewhere

_ROUTING = frozenset({"mcp-protocol-version", "mcp-method", "mcp-name"})


@dataclass(slots=True)
class ModernEndpoint:
    """/mcp for clients of 2026-07-28: no sessions, and one request per POST."""

    edge: Edge
    elsewhere: Elsewhere | None = None

    def post(self, exchange: Exchange, message: Message | list[Message]) -> Awaitable[None]:
        if isinstance(message, RpcRequest):
            return self._request(exchange, message)
        if isinstance(message, Notification):
            return exchange.accepted()
        if isinstance(message, Malformed):
            return exchange.refuse(400, message.error, message.id)
        error = ProtocolError(INVALID_REQUEST, "Invalid Request", "one request a POST")
        return exchange.refuse(400, error)

    async def _request(self, exchange: Exchange, request: RpcRequest) -> None:
        try:
            envelope = _checked_envelope(exchange, request)
        except ProtocolError as error:
            await exchange.refuse(MODERN_STATUS.get(error.code, 200), error, request.id)
            return
        exchange.response.cancel_when_left()
        call = modern_call(
            request, envelope, LATEST, exchange.caller, exchange.headers, exchange.address
        )
        if call.request_state is not None and await self._passed_on(exchange, call):
            return
        start, result = perf_counter() if self.edge.note is not None else 0.0, None
        try:
            try:
                result = await answer_modern(self.edge, call, exchange.put)
            finally:
                if self.edge.note is not None:
                    self.edge.note(call, result, start)
            answer, status = encode(self.edge, call, result), 200
        except Exception as raised:
            cause = raised if isinstance(raised, ProtocolError) else bug(call.method)
            failure = shape_error(cause, call.revision)
            answer, status = encode_error(call.id, failure), MODERN_STATUS.get(failure.code, 200)
        delivery = exchange.finish(answer, status)
        if delivery is not None:
            await delivery

    async def _passed_on(self, exchange: Exchange, call: Call) -> bool:
        """Does the call that this one resumes wait in another process?"""
        if self.elsewhere is None or exchange.visiting:
            return False
        home = self.edge.parking.home_of(call)
        if home in ("", self.edge.parking.home):
            return False
        if not await self.elsewhere.passes_on(home, exchange, call.id):
            error = ProtocolError(INVALID_PARAMS, "The process in which this call waited is gone")
            await exchange.refuse(MODERN_STATUS[error.code], error, call.id)
        return True


class _Checked(NamedTuple):
    """What is compared with a head, in a request that was found to go with it."""

    method: str
    key: str  # of what it is about, in its params
    subject: str
    meta: JsonObject
    envelope: Envelope


def _checked_envelope(exchange: Exchange, request: RpcRequest) -> Envelope:
    """What a client repeats with the same head is not looked at again."""
    head, params = exchange.request.head, request.params
    if exchange.headers is not head.headers:  # another process has passed it on
        return _check(exchange, request)
    checked: _Checked | None = head.checked
    if checked is not None:
        method, key, subject, meta, envelope = checked
        if request.method == method and params.get(key) == subject and params.get("_meta") == meta:
            return envelope
    envelope = _check(exchange, request)
    key = MCP_NAME.get(request.method, "")
    about = params.get(key)
    # With other members than these it would not be the same twice: a token for progress, a trace.
    if isinstance(about, str) and not envelope.meta:
        head.checked = _Checked(request.method, key, about, params["_meta"], envelope)
    return envelope


def _check(exchange: Exchange, request: RpcRequest) -> Envelope:
    """The ladder: repeated headers, the envelope, headers against body, the latest revision."""
    names = exchange.request.head.duplicates
    if names:
        _refuse_repeated(names)
    envelope = open_envelope(request.params)
    check_routing(exchange.headers, request.method, request.params, envelope.version)
    if envelope.revision is not LATEST:  # raises for a version that we do not have
        raise mismatch("unknown revision")
    return envelope


def _refuse_repeated(names: frozenset[str]) -> None:
    if names & _ROUTING or any(name.startswith(PARAM_PREFIX) for name in names):
        raise mismatch(f"{', '.join(sorted(names))} was sent more than once")
