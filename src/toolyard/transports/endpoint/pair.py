"""The HTTP+SSE transport of 2024-11-05: a stream to listen on, a path to post to."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from toolyard.errors import INVALID_REQUEST, RATE_LIMITED, ProtocolError
from toolyard.http.events import EVENT_HEADERS, KEEP_ALIVE, event
from toolyard.http.response import Response
from toolyard.protocol.jsonrpc import (
    Malformed,
    Message,
    Notification,
    RpcRequest,
    RpcResponse,
    encode_batch,
    encode_error,
)
from toolyard.transports.answer import Edge
from toolyard.transports.batches import answer_batch
from toolyard.transports.endpoint.exchange import KEEP_ALIVE_AFTER, Exchange
from toolyard.transports.endpoint.sessions import HttpSession, HttpSessions
from toolyard.transports.endpoint.streamable import RETRY_AFTER, about_to_end, opening

if TYPE_CHECKING:
    from toolyard.transports.endpoint.elsewhere import Elsewhere

# A POST is accepted before it is answered: nothing else would stop a client that keeps sending.
MOST_WAITING = 1000


@dataclass(slots=True)
class PairEndpoint:
    """/sse and /messages: a session lives as long as its stream, which carries every answer."""

    edge: Edge
    sessions: HttpSessions
    tasks: set[asyncio.Task[None]]
    elsewhere: Elsewhere | None = None

    async def get(self, exchange: Exchange) -> None:
        if self.sessions.draining:
            await exchange.refuse(503, about_to_end(), headers=(RETRY_AFTER,))
            return
        try:
            await self.edge.count(opening(exchange, {}))
        except ProtocolError as error:
            await exchange.refuse(429, error)
            return
        session = self.sessions.open(exchange.caller)
        self.sessions.admit(session)
        session.handshake.address = exchange.address
        session.followers += 1
        response = exchange.response
        response.start(EVENT_HEADERS)
        address = f"/messages?session_id={session.id}".encode()
        await response.write(event(address, name="endpoint"))
        try:
            await exchange.request.while_connected(self._events(response, session))
        finally:
            self.sessions.end(session)
        await response.end()

    async def _events(self, response: Response, session: HttpSession) -> None:
        async for item in session.general.follow(idle=KEEP_ALIVE_AFTER):
            if item is None:
                await response.write(KEEP_ALIVE)
                continue
            number, message = item
            await response.write(event(message))
            session.general.forget(number)

    async def post(self, exchange: Exchange, message: Message | list[Message]) -> None:
        if not exchange.visiting:
            named = exchange.request.query.get("session_id", "")
            exchange.headers = {**exchange.headers, "mcp-session-id": named}
        session = self.sessions.find(exchange.headers["mcp-session-id"], exchange.caller)
        if session is not None:
            await self._take(exchange, session, message)
        elif self.elsewhere is not None:
            await self.elsewhere.reach(exchange, partial(self._take, message=message))
        else:
            await exchange.refuse(404, ProtocolError(INVALID_REQUEST, "Session not found"))

    async def _take(
        self, exchange: Exchange, session: HttpSession, message: Message | list[Message]
    ) -> None:
        if len(self.tasks) >= MOST_WAITING:
            why = "Too many requests are waiting for their answers"
            await exchange.refuse(503, ProtocolError(RATE_LIMITED, why))
            return
        task = asyncio.get_running_loop().create_task(self._deliver(session, message))
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)
        await exchange.accepted()

    async def _deliver(self, session: HttpSession, message: Message | list[Message]) -> None:
        answer: bytes | None = None
        if isinstance(message, list):
            answer = await self._batch(session, message)
        elif isinstance(message, RpcRequest):
            answer = await session.handshake.answer(message)
        elif isinstance(message, Notification):
            await session.handshake.hear(message)
        elif isinstance(message, RpcResponse):
            session.handshake.settle(message)
        elif isinstance(message, Malformed):
            answer = encode_error(message.id, message.error)
        if answer is not None:
            session.general.put(answer)

    async def _batch(self, session: HttpSession, messages: list[Message]) -> bytes | None:
        if not (session.handshake.revision.batches or self.edge.batches):
            return encode_error(None, ProtocolError(INVALID_REQUEST, "Invalid Request", "batch"))
        answers = await answer_batch(session.handshake, messages)
        return encode_batch(answers) if answers else None
