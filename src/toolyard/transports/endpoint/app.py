"""What answers every HTTP request: guard, authenticate, route; both eras on one endpoint."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from toolyard.access.callers import Anyone, Authenticator, Unauthorized
from toolyard.context.reading import reading_of
from toolyard.errors import INVALID_REQUEST, ProtocolError
from toolyard.http.headers import TEXT_TYPE, Header
from toolyard.http.request import BodyTooLarge, Disconnected, Request, query_fields
from toolyard.http.response import Responder, Response
from toolyard.http.serving.request_heads import Head
from toolyard.protocol.eras.modern import speaks_modern
from toolyard.protocol.revisions import MODERN
from toolyard.telemetry import logger
from toolyard.transports.answer import Edge
from toolyard.transports.endpoint.exchange import NOBODY, Exchange
from toolyard.transports.endpoint.guard import OriginGuard
from toolyard.transports.endpoint.modern import ModernEndpoint
from toolyard.transports.endpoint.pair import PairEndpoint
from toolyard.transports.endpoint.session_ids import SealedIds
from toolyard.transports.endpoint.sessions import HttpSessions, Most
from toolyard.transports.endpoint.streamable import LegacyEndpoint

if TYPE_CHECKING:
    from toolyard.cluster.cluster import Cluster
    from toolyard.cluster.visits import Visit
    from toolyard.transports.endpoint.elsewhere import Elsewhere

log = logger("http")
HEALTH = "/healthz"  # tells everybody that the process lives, and nothing else
MESSAGES = "/messages"  # the POST half of the older pair
JSON = "application/json"
HANDED_OVER_WITHIN = 1.0  # those in which nothing runs
Route = Callable[[Exchange], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class HttpSettings:
    max_body: int = 16 * 1024 * 1024
    guard: OriginGuard = field(default_factory=OriginGuard)
    authenticator: Authenticator = field(default_factory=Anyone)
    max_sessions: int = 10_000
    max_sessions_per_caller: int = 1_000


class HttpTransport:
    """A Responder. Extra routes pass the same guard; a path that ends in / is a prefix.

    Those in `extra` decide themselves whom they answer (the page); those in `private` answer
    whoever may use /mcp (/status).
    """

    def __init__(
        self,
        edge: Edge,
        settings: HttpSettings,
        extra: Mapping[str, Responder] | None = None,
        private: Mapping[str, Responder] | None = None,
        cluster: Cluster | None = None,
    ) -> None:
        self._edge = edge
        self._settings = settings
        self._everybody = settings.authenticator.everybody or NOBODY
        self._extra = extra or {}
        self._private = private or {}
        most = Most(settings.max_sessions, settings.max_sessions_per_caller)
        ids = SealedIds(cluster.keys.seal("session"), cluster.name) if cluster else None
        self.sessions = HttpSessions(edge, most, ids=ids)
        elsewhere = self._elsewhere = _elsewhere(cluster, ids, self.sessions)
        self._tasks: set[asyncio.Task[None]] = set()
        self._handing_over: asyncio.Task[None] | None = None
        self.refused_credentials = 0  # since the start
        self._legacy = LegacyEndpoint(edge, self.sessions, elsewhere)
        self._modern = ModernEndpoint(edge, elsewhere)
        self._pair = PairEndpoint(edge, self.sessions, self._tasks, elsewhere)
        self._routes: Mapping[str, Mapping[str, Route]] = {
            "/mcp": {"POST": self._post, "GET": self._get, "DELETE": self._delete},
            "/mcp/": {"POST": self._post, "GET": self._get, "DELETE": self._delete},
            "/sse": {"GET": self._pair.get},
            MESSAGES: {"POST": self._post},
        }

    @property
    def paths(self) -> frozenset[str]:
        """Every route there is."""
        return frozenset({HEALTH, *self._routes, *self._extra})

    def __call__(self, request: Request, response: Response) -> Awaitable[None]:
        head = request.head
        if head.route is None:
            twice = not _ONLY_ONCE.isdisjoint(head.duplicates)
            head.route = _TWICE if twice else self._route(head)
        exchange = Exchange(request, response, head.headers, self._everybody)
        work: Awaitable[None] = head.route(exchange)
        return work

    # -- where a request goes: decided by path, method, headers and caller --------------

    def _route(self, head: Head) -> Route:
        guard, headers = self._settings.guard, head.headers
        refusal = guard.refusal(headers)
        if refusal is not None:
            return _always(403, refusal.encode(), (TEXT_TYPE,))
        if head.method == "OPTIONS":
            route = _always(204, b"", guard.preflight(headers))
        else:
            route = self._own_route(head)
        return _with_cors(route, guard.cors(headers)) if "origin" in headers else route

    def _own_route(self, head: Head) -> Route:
        path, method = head.path, head.method
        if path == HEALTH:
            return _always(200, b"ok\n", (TEXT_TYPE,))
        methods = self._routes.get(path)
        if methods is None:
            return self._route_extra
        route = methods.get(method)
        if route is None:
            return _always(405, b"", ((b"allow", ", ".join(methods).encode()),))
        if head.query and (wrong := _wrong_address(head)):
            return _always(400, f"{wrong}\n".encode(), (TEXT_TYPE,))
        refusal = _refusal(head.headers) if method == "POST" else None
        return self._authenticated(route if refusal is None else _refusal_route(*refusal))

    def _authenticated(self, route: Route) -> Route:
        if self._settings.authenticator.everybody is not None:
            return route

        async def for_known_callers(exchange: Exchange) -> None:
            if await self._admit(exchange):
                await route(exchange)

        return for_known_callers

    async def _route_extra(self, exchange: Exchange) -> None:
        request, response = exchange.request, exchange.response
        private = self._private.get(request.path)
        extra = private or self._find_extra(request.path)
        if extra is None:
            await response.send(404, b"Not found: the MCP endpoint is /mcp\n", (TEXT_TYPE,))
            return
        if private is None or await self._admit(exchange):
            await extra(request, response)

    def _find_extra(self, path: str) -> Responder | None:
        if path in self._extra:
            return self._extra[path]
        for prefix, responder in self._extra.items():
            if prefix.endswith("/") and path.startswith(prefix):
                return responder
        return None

    async def _admit(self, exchange: Exchange) -> bool:
        """Find out who is calling; 401 for everyone we do not know."""
        authorization = exchange.request.authorization
        try:
            exchange.caller = await self._settings.authenticator.caller(authorization)
        except Unauthorized as refused:
            self.refused_credentials += 1
            error = ProtocolError(INVALID_REQUEST, "Unauthorized")
            await exchange.refuse(refused.status, error, headers=(refused.header,))
            return False
        return True

    # -- what is done there ------------------------------------------------------------

    def _post(self, exchange: Exchange) -> Awaitable[None]:
        body = exchange.request.at_hand()
        if body is None or len(body) > self._settings.max_body:
            return self._post_slowly(exchange, body)
        return self._take(exchange, body)

    async def _post_slowly(self, exchange: Exchange, body: bytes | None) -> None:
        most = self._settings.max_body
        try:
            if body is not None:
                raise BodyTooLarge
            body = await exchange.request.read(most)
        except BodyTooLarge:
            why = f"a body may have {most} bytes"
            await exchange.refuse(413, ProtocolError(INVALID_REQUEST, "Body too large", why))
        except Disconnected:
            pass
        else:
            await self._take(exchange, body)

    def _take(self, exchange: Exchange, body: bytes, path: str = "") -> Awaitable[None]:
        message = self._edge.decode(body)
        exchange.body = body
        if (path or exchange.request.head.path) == MESSAGES:
            return self._pair.post(exchange, message)
        if speaks_modern(message, exchange.headers):
            return self._modern.post(exchange, message)
        return self._legacy.post(exchange, message)

    async def _get(self, exchange: Exchange) -> None:
        if exchange.headers.get("mcp-protocol-version") in MODERN:
            await exchange.response.send(405, b"", ((b"allow", b"POST"),))
            return
        await self._legacy.get(exchange)

    async def _delete(self, exchange: Exchange) -> None:
        if exchange.headers.get("mcp-protocol-version") in MODERN:
            await exchange.response.send(405, b"", ((b"allow", b"POST"),))
            return
        await self._legacy.delete(exchange)

    async def visit(self, visit: Visit, request: Request, response: Response) -> None:
        """What another process passes on, from a caller that it has authenticated."""
        path, _, query = visit.target.partition("?")
        exchange = Exchange(request, response, dict(visit.headers), visit.caller, visiting=True)
        exchange.visiting_query = query.encode("latin-1")
        if visit.method == "POST":
            await self._take(exchange, visit.body, path)
        elif visit.method == "GET":
            await self._get(exchange)
        else:
            await self._delete(exchange)

    def leave(self) -> None:
        """No session begins here any more; those that there are go on."""
        self.sessions.draining = True

    async def drain(self) -> None:
        """End streams that wait for news, so that open connections finish; calls go on."""
        self.leave()
        self.sessions.end_idle()
        if self._elsewhere is not None:
            self._handing_over = asyncio.create_task(self._elsewhere.hand_over())
            # While others still reach us: what they pass on meanwhile is not cut off.
            await asyncio.wait([self._handing_over], timeout=HANDED_OVER_WITHIN)

    async def close(self) -> None:
        """End every session, with its calls; with a store, others may go on with it."""
        if self._handing_over is not None:
            self._handing_over.cancel()
        if self._elsewhere is not None:
            await self._elsewhere.close()
        self.sessions.close()


def _elsewhere(
    cluster: Cluster | None, ids: SealedIds | None, sessions: HttpSessions
) -> Elsewhere | None:
    if cluster is None or ids is None:
        return None
    # A process on its own needs none of it.
    from toolyard.transports.endpoint.elsewhere import Elsewhere  # noqa: PLC0415

    return Elsewhere(cluster, ids, sessions)


def _wrong_address(head: Head) -> str | None:
    """Why the query of the address cannot be meant."""
    try:
        reading_of(query_fields(head.query))
    except ValueError as error:
        return str(error)
    return None


def _refusal(headers: Mapping[str, str]) -> tuple[int, ProtocolError] | None:
    """Why the body of a POST is not even read."""
    content_type = headers.get("content-type", "")
    if content_type != JSON and content_type.partition(";")[0].strip().lower() != JSON:
        return 415, ProtocolError(INVALID_REQUEST, "Content-Type must be application/json")
    accept = headers.get("accept", "*/*").lower()
    if not ("*/*" in accept or "application/" in accept or "text/event-stream" in accept):
        why = "Accept must list application/json and text/event-stream"
        return 406, ProtocolError(INVALID_REQUEST, why)
    return None


def _always(status: int, body: bytes, headers: tuple[Header, ...]) -> Route:
    return lambda exchange: exchange.response.send(status, body, headers)


# Which one would count? A proxy in front of us may have read the other one.
_ONLY_ONCE = frozenset({"host", "origin", "content-type", "mcp-session-id"})
_TWICE = _always(400, b"A header may not be repeated\n", (TEXT_TYPE,))


def _refusal_route(status: int, error: ProtocolError) -> Route:
    return lambda exchange: exchange.refuse(status, error)


def _with_cors(route: Route, headers: tuple[Header, ...]) -> Route:
    def answer(exchange: Exchange) -> Awaitable[None]:
        exchange.response.add(headers)
        return route(exchange)

    return answer
