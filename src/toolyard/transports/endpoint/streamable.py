"""Streamable HTTP of the handshake revisions: sessions, event streams, resumption."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from toolyard.errors import INVALID_REQUEST, SHUTTING_DOWN, ProtocolError
from toolyard.http.events import EVENT_HEADERS, KEEP_ALIVE, event
from toolyard.http.headers import JSON_TYPE
from toolyard.http.response import Response
from toolyard.protocol.call import Call, JsonObject
from toolyard.protocol.jsonrpc import (
    Malformed,
    Message,
    Notification,
    RequestId,
    RpcRequest,
    RpcResponse,
    encode_batch,
)
from toolyard.protocol.kinds import LISTS
from toolyard.protocol.revisions import HANDSHAKE, LATEST_HANDSHAKE
from toolyard.transports.answer import Edge
from toolyard.transports.batches import answer_batch
from toolyard.transports.endpoint.exchange import KEEP_ALIVE_AFTER, RETRY_MS, Exchange
from toolyard.transports.endpoint.outbox import Outbox, priming
from toolyard.transports.endpoint.sessions import HttpSession, HttpSessions, Past

if TYPE_CHECKING:
    from toolyard.transports.endpoint.elsewhere import Elsewhere

NOT_FOUND = 404
RETRY_AFTER = (b"retry-after", b"1")
_REPEATABLE = LISTS | {
    *("ping", "logging/setLevel", "notifications/initialized", "resources/subscribe"),
}
# What is to be done in a session, once it is here.
Work: TypeAlias = Callable[[Exchange, HttpSession], Awaitable[None]]


class NoSession(Exception):
    """The request does not belong to any session we have."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status
        self.error = ProtocolError(INVALID_REQUEST, why)


@dataclass(slots=True)
class LegacyEndpoint:
    """/mcp for clients of the handshake revisions: every request but the first names a session."""

    edge: Edge
    sessions: HttpSessions
    elsewhere: Elsewhere | None = None

    def post(self, exchange: Exchange, message: Message | list[Message]) -> Awaitable[None]:
        if isinstance(message, Malformed):
            return exchange.refuse(400, message.error, message.id)
        if isinstance(message, RpcRequest) and message.method == "initialize":
            return self._initialize(exchange, message)
        try:
            session = self._session(exchange)
        except NoSession as no:
            request_id = message.id if isinstance(message, RpcRequest) else None
            exchange.repeatable = getattr(message, "method", "") in _REPEATABLE
            return self._without(exchange, no, partial(self._take, message=message), request_id)
        return self._take(exchange, session, message)

    def _take(
        self, exchange: Exchange, session: HttpSession, message: Message | list[Message]
    ) -> Awaitable[None]:
        if isinstance(message, RpcRequest):
            return self._request(exchange, session, message)
        if isinstance(message, list):
            return self._batch(exchange, session, message)
        assert not isinstance(message, Malformed)
        return self._hear(exchange, session, message)

    def _without(
        self, exchange: Exchange, no: NoSession, work: Work, request_id: RequestId | None = None
    ) -> Awaitable[None]:
        """We do not have the session: perhaps another process does."""
        if self.elsewhere is None or no.status != NOT_FOUND:
            return exchange.refuse(no.status, no.error, request_id)
        return self.elsewhere.reach(exchange, work, request_id)

    async def _initialize(self, exchange: Exchange, request: RpcRequest) -> None:
        if self.sessions.draining:
            await self._initialize_elsewhere(exchange, request)
            return
        try:
            await self.edge.count(opening(exchange, request.params))
        except ProtocolError as error:
            await exchange.refuse(429, error, request.id)
            return
        session = self.sessions.open(exchange.caller, Past(exchange.request.foretold))
        session.handshake.address = exchange.address
        answer = await session.handshake.answer(request)
        if not session.handshake.is_greeted:
            session.close()
            await exchange.response.send(200, answer or b"", (JSON_TYPE,))
            return
        self.sessions.admit(session)
        if self.elsewhere is not None:
            await self.elsewhere.opened(session, request.params)
        session_header = (b"mcp-session-id", session.id.encode())
        await exchange.response.send(200, answer or b"", (JSON_TYPE, session_header))

    async def _initialize_elsewhere(self, exchange: Exchange, request: RpcRequest) -> None:
        """Not every balancer has noticed yet that we are about to end."""
        if self.elsewhere is None or not await self.elsewhere.opens(exchange, request.id):
            await exchange.refuse(503, about_to_end(), request.id, (RETRY_AFTER,))

    def _session(self, exchange: Exchange) -> HttpSession:
        """The session that the headers name. Raises NoSession."""
        session_id = exchange.headers.get("mcp-session-id")
        if session_id is None:
            raise NoSession(400, "Mcp-Session-Id header is missing")
        session = self.sessions.find(session_id, exchange.caller)
        if session is None:
            raise NoSession(NOT_FOUND, "Session not found")
        session.handshake.address = exchange.address
        version = exchange.headers.get("mcp-protocol-version")
        if version is not None and version not in HANDSHAKE:
            raise NoSession(400, f"Unsupported MCP-Protocol-Version: {version}")
        return session

    async def _hear(
        self, exchange: Exchange, session: HttpSession, message: Notification | RpcResponse
    ) -> None:
        if isinstance(message, Notification):
            await session.handshake.hear(message)
        else:
            session.handshake.settle(message)
        await _noted(session, [message])
        await exchange.accepted()

    async def _request(self, exchange: Exchange, session: HttpSession, request: RpcRequest) -> None:
        """A client that is cut off has not cancelled: the call goes on and can be resumed."""
        reply = session.open_reply(request.id, exchange.response)
        try:
            answer = await session.handshake.answer(request)
        finally:
            session.close_reply(request.id, reply)
        if session.kept is not None and (writing := session.kept.note(request, answer)):
            await writing
        if answer is None and session.handshake.is_closed and not reply.streaming:
            await exchange.refuse(404, ProtocolError(INVALID_REQUEST, "Session ended"), request.id)
            return
        delivery = reply.finish(answer)
        if delivery is not None:
            await delivery

    async def _batch(
        self, exchange: Exchange, session: HttpSession, messages: list[Message]
    ) -> None:
        revision = session.handshake.revision
        if not (revision.batches or self.edge.batches):
            why = f"Batch arrays are not allowed for protocol {revision}"
            await exchange.refuse(400, ProtocolError(INVALID_REQUEST, "Invalid Request", why))
            return
        answers = await answer_batch(session.handshake, messages)
        await _noted(session, messages)
        if answers:
            await exchange.response.send(200, encode_batch(answers), (JSON_TYPE,))
        else:
            await exchange.accepted()

    async def get(self, exchange: Exchange) -> None:
        """A stream for messages that belong to no request, or the rest of one that broke off."""
        try:
            session = self._session(exchange)
        except NoSession as no:
            exchange.repeatable = True
            await self._without(exchange, no, self._stream)
        else:
            await self._stream(exchange, session)

    async def _stream(self, exchange: Exchange, session: HttpSession) -> None:
        event_id = exchange.headers.get("last-event-id")
        general = session.general
        position = (
            session.resume(event_id) if event_id is not None else (general, general.delivered)
        )
        history: list[bytes] = []
        if session.kept is not None:
            position, history = await session.kept.past(event_id, general, position)
        if position is None:
            why = "Last-Event-ID does not name a stream of this session"
            await exchange.refuse(404, ProtocolError(INVALID_REQUEST, why))
            return
        session.followers += 1
        try:
            primed = session.handshake.revision.resumable_priming
            await stream(exchange, *position, history, primed=primed)
        finally:
            session.followers -= 1

    async def delete(self, exchange: Exchange) -> None:
        try:
            session = self._session(exchange)
        except NoSession as no:
            await self._without(exchange, no, self._end)
        else:
            await self._end(exchange, session)

    async def _end(self, exchange: Exchange, session: HttpSession) -> None:
        self.sessions.end(session)
        await exchange.response.send(204)


async def _noted(session: HttpSession, messages: Iterable[Message]) -> None:
    """Others know of it before the client is told that it is done."""
    for message in messages if session.kept is not None else ():
        writing = session.kept.note(message) if session.kept is not None else None
        if writing is not None:
            await writing


def about_to_end() -> ProtocolError:
    return ProtocolError(SHUTTING_DOWN, "Server shutting down")


def opening(exchange: Exchange, params: JsonObject) -> Call:
    """The opening of a session, as a call that can be counted."""
    return Call("initialize", params, LATEST_HANDSHAKE, caller=exchange.caller)


async def stream(
    exchange: Exchange, outbox: Outbox, after: int, history: list[bytes], *, primed: bool
) -> None:
    """Send the messages of a stream as events until it ends or the client leaves.

    `history`: events that come first, from another process.
    """
    response = exchange.response
    response.start(EVENT_HEADERS)
    # At once: proxies may hold the head back until there is a byte of the body.
    first = priming(outbox.event_id(after), RETRY_MS) if primed and not history else KEEP_ALIVE
    await response.write(b"".join((first, *history)))
    await exchange.request.while_connected(_events(response, outbox, after))
    await response.end()


async def _events(response: Response, outbox: Outbox, after: int) -> None:
    async with aclosing(outbox.follow(after, idle=KEEP_ALIVE_AFTER)) as items:
        async for item in items:
            if item is None:
                await response.write(KEEP_ALIVE)
            else:
                number, message = item
                await response.write(event(message, outbox.event_id(number)))
