"""Sessions and parked calls that another process has: requests for them are passed on to it.

Where there is a store, a session whose process is gone is taken over by this one. Looked for in
this order: where its id says, then where the store says. While the store says that a process
owns it that cannot be reached, a request waits: in a moment one of the two will have changed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from time import monotonic
from typing import TypeAlias

from toolyard.cluster.cluster import Cluster
from toolyard.cluster.forwarding import NOT_HERE, NotThere, forward, passed_on
from toolyard.cluster.peers import PeerGone, PeerLost
from toolyard.cluster.visits import Visit
from toolyard.errors import INTERNAL_ERROR, INVALID_REQUEST, ProtocolError
from toolyard.http.events import event
from toolyard.protocol.call import JsonObject
from toolyard.protocol.jsonrpc import RequestId, encode_error
from toolyard.store.interface import StoreError
from toolyard.telemetry import logger
from toolyard.transports.endpoint.exchange import Exchange, may_have_run
from toolyard.transports.endpoint.keeping.keeping import HeldBy, Keeping
from toolyard.transports.endpoint.session_ids import SealedIds, SessionTicket
from toolyard.transports.endpoint.sessions import HttpSession, HttpSessions

log = logger("sessions")
SERVICE = "mcp"
WITHIN, STEP = 4.0, 0.05
Work: TypeAlias = Callable[[Exchange, HttpSession], Awaitable[None]]


class Elsewhere:
    def __init__(self, cluster: Cluster, ids: SealedIds, sessions: HttpSessions) -> None:
        self._name = cluster.name
        self._peers = cluster.peers
        self._ids = ids
        self._sessions = sessions
        self._keeping = Keeping(cluster.shared, sessions) if cluster.shared else None

    async def opened(self, session: HttpSession, opening: JsonObject) -> None:
        """A session was opened here."""
        if self._keeping is not None:
            await self._keeping.add(session, opening)

    async def reach(
        self, exchange: Exchange, work: Work, request_id: RequestId | None = None
    ) -> None:
        """Answer a request for a session that this process does not have, or may have lost."""
        try:
            session = await self._ours(exchange)
            if session is None and exchange.visiting:
                await exchange.response.send(NOT_HERE)
                return
            session = session or await self._brought(exchange, request_id)
        except StoreError as error:
            log.debug("a session cannot be reached: %s", error)
            why = "The session cannot be reached at this moment"
            await exchange.refuse(503, ProtocolError(INTERNAL_ERROR, why), request_id)
            return
        if session is not None:
            await work(exchange, session)

    async def _ours(self, exchange: Exchange) -> HttpSession | None:
        session = self._sessions.unconfirmed(exchange.headers["mcp-session-id"], exchange.caller)
        if session is None or self._keeping is None or session.kept is None:
            return session
        return session if await self._keeping.confirmed(session) else None

    async def _brought(
        self, exchange: Exchange, request_id: RequestId | None
    ) -> HttpSession | None:
        """The session, taken over; None: the request is answered. Raises StoreError."""
        ticket = self._ids.open(exchange.headers["mcp-session-id"], exchange.caller)
        if ticket is None:
            await _unknown(exchange, request_id)
            return None
        if ticket.owner != self._name and await self.passes_on(ticket.owner, exchange, request_id):
            return None
        if self._keeping is None:
            await _unknown(exchange, request_id)
            return None
        return await self._taken_over(self._keeping, ticket, exchange, request_id)

    async def _taken_over(
        self,
        keeping: Keeping,
        ticket: SessionTicket,
        exchange: Exchange,
        request_id: RequestId | None,
    ) -> HttpSession | None:
        until = monotonic() + WITHIN
        session_id = exchange.headers["mcp-session-id"]
        while monotonic() < until:
            try:
                session = await keeping.take_over(ticket, session_id, exchange.caller)
            except HeldBy as held:
                if held.process and await self.passes_on(held.process, exchange, request_id):
                    return None
                await asyncio.sleep(STEP)
                continue
            except StoreError as error:  # it may be back in a moment
                log.debug("the store does not say who has a session: %s", error)
                await asyncio.sleep(STEP)
                continue
            if session is None:
                await _unknown(exchange, request_id)
            return session
        raise StoreError("its owner does not answer, and nobody may take it yet")

    async def passes_on(self, owner: str, exchange: Exchange, request_id: RequestId | None) -> bool:
        """False: the owner is not there, or does not have it; nothing was answered.

        What may have run there is answered, and not tried again.
        """
        request = exchange.request
        visit = Visit(
            SERVICE,
            request.method,
            f"{request.path}?{exchange.query.decode('latin-1')}",
            passed_on(exchange.headers),
            exchange.caller,
            exchange.body,
        )
        try:
            await forward(self._peers, owner, visit, request, exchange.response)
        except (PeerGone, NotThere) as error:
            log.debug("%s does not have it: %s", owner, error)
            return False
        except PeerLost as error:
            if exchange.repeatable and not exchange.response.begun:
                return False
            log.warning("a request could not be passed on to %s: %s", owner, error)
            await _lost(exchange, request_id)
        return True

    async def opens(self, exchange: Exchange, request_id: RequestId) -> bool:
        """Let another process open a session; False: nobody does."""
        if exchange.visiting:
            await exchange.response.send(NOT_HERE)
            return True
        exchange.repeatable = True
        for name in self._peers.names():
            if name != self._name and await self.passes_on(name, exchange, request_id):
                return True
        return False

    async def hand_over(self) -> None:
        """Our sessions go to others."""
        if self._keeping is not None:
            await self._keeping.hand_over()

    async def close(self) -> None:
        if self._keeping is not None:
            await self._keeping.close()


async def _unknown(exchange: Exchange, request_id: RequestId | None) -> None:
    await exchange.refuse(404, ProtocolError(INVALID_REQUEST, "Session not found"), request_id)


async def _lost(exchange: Exchange, request_id: RequestId | None) -> None:
    """It may have run, so it is not tried again."""
    error = may_have_run()
    response = exchange.response
    if not response.begun:
        await exchange.refuse(200 if request_id is not None else 502, error, request_id)
    elif request_id is not None:
        await response.end(event(encode_error(request_id, error)))
