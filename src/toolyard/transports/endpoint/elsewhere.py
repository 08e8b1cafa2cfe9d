"""Sessions and parked calls that another process has: requests for them are passed on to it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeAlias

from toolyard.cluster.forwarding import NOT_HERE, NotThere, forward, passed_on
from toolyard.cluster.peers import PeerGone, PeerLost, Peers
from toolyard.cluster.visits import Visit
from toolyard.errors import INTERNAL_ERROR, INVALID_REQUEST, ProtocolError
from toolyard.http.events import event
from toolyard.protocol.jsonrpc import RequestId, encode_error
from toolyard.telemetry import logger
from toolyard.transports.endpoint.exchange import Exchange
from toolyard.transports.endpoint.session_ids import SealedIds
from toolyard.transports.endpoint.sessions import HttpSession

log = logger("sessions")
SERVICE = "mcp"
Work: TypeAlias = Callable[[Exchange, HttpSession], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Elsewhere:
    name: str  # of this process
    ids: SealedIds
    peers: Peers

    async def reach(
        self, exchange: Exchange, work: Work, request_id: RequestId | None = None
    ) -> None:
        """Answer a request for a session that this process does not have."""
        if exchange.visiting:
            await exchange.response.send(NOT_HERE)
            return
        ticket = self.ids.open(exchange.headers["mcp-session-id"], exchange.caller)
        if ticket is None or ticket.owner == self.name:
            await self._unknown(exchange, request_id)
            return
        if not await self.passes_on(ticket.owner, exchange, request_id):
            await self._unknown(exchange, request_id)

    async def _unknown(self, exchange: Exchange, request_id: RequestId | None) -> None:
        await exchange.refuse(404, ProtocolError(INVALID_REQUEST, "Session not found"), request_id)

    async def passes_on(self, owner: str, exchange: Exchange, request_id: RequestId | None) -> bool:
        """False: the owner is not there, or does not have it; nothing was answered."""
        request = exchange.request
        visit = Visit(
            SERVICE,
            request.method,
            request.path,
            passed_on(exchange.headers),
            exchange.caller,
            exchange.body,
        )
        try:
            await forward(self.peers, owner, visit, request, exchange.response)
        except (PeerGone, NotThere) as error:
            log.debug("%s does not have it: %s", owner, error)
            return False
        except PeerLost as error:
            log.warning("a request was passed on to %s in vain: %s", owner, error)
            await _lost(exchange, request_id)
        return True


async def _lost(exchange: Exchange, request_id: RequestId | None) -> None:
    """It may have run, so it is not tried again."""
    why = "The process that ran this is gone: it may have run, and was not tried again"
    error = ProtocolError(INTERNAL_ERROR, why)
    response = exchange.response
    if not response.begun:
        await exchange.refuse(200 if request_id is not None else 502, error, request_id)
    elif request_id is not None:
        await response.end(event(encode_error(request_id, error)))
