"""The HTTP server's one ASGI app: guard, authenticate, route; both eras on one endpoint."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from dataclasses import dataclass, field
from typing import Any

from toolyard.asgi import (
    TEXT_TYPE,
    AsgiApp,
    BodyTooLarge,
    Disconnected,
    Header,
    Receive,
    Scope,
    Send,
    body_at_hand,
    read_body,
    respond,
)
from toolyard.auth.callers import Anyone, Authenticator, Unauthorized
from toolyard.errors import INVALID_REQUEST, ProtocolError
from toolyard.protocol.jsonrpc import Malformed, Message, Request
from toolyard.protocol.modern import is_modern
from toolyard.protocol.revisions import HANDSHAKE, MODERN
from toolyard.telemetry import logger
from toolyard.transports.answer import Edge
from toolyard.transports.exchange import Exchange
from toolyard.transports.guard import Guard
from toolyard.transports.heads import NAMED, read_headers
from toolyard.transports.http_legacy import LegacyEndpoint
from toolyard.transports.http_modern import ModernEndpoint
from toolyard.transports.http_pair import PairEndpoint
from toolyard.transports.http_sessions import HttpSessions

log = logger("http")
HEALTH = "/healthz"  # says that the process lives, and nothing else, to everybody
MESSAGES = "/messages"  # the POST half of the older pair
JSON = "application/json"
# Where a private route finds who is calling.
CALLER = "toolyard.caller"
Route = Callable[[Exchange], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class HttpSettings:
    max_body: int = 16 * 1024 * 1024
    guard: Guard = field(default_factory=Guard)
    authenticator: Authenticator = field(default_factory=Anyone)


class HttpTransport:
    """An ASGI callable. Extra routes pass the same guard; a path that ends in / is a prefix.

    Those in `extra` know themselves whom they answer (the page); those in `private` answer
    whoever may use /mcp (/status), and find the caller in the scope.
    """

    def __init__(
        self,
        edge: Edge,
        settings: HttpSettings,
        extra: Mapping[str, AsgiApp] | None = None,
        private: Mapping[str, AsgiApp] | None = None,
    ) -> None:
        self._edge = edge
        self._settings = settings
        self._extra = extra or {}
        self._private = private or {}
        self.sessions = HttpSessions(edge)
        self._tasks: set[asyncio.Task[None]] = set()
        self._legacy = LegacyEndpoint(edge, self.sessions)
        self._modern = ModernEndpoint(edge)
        self._pair = PairEndpoint(edge, self.sessions, self._tasks)
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

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        headers, repeated = scope.get(NAMED) or read_headers(scope["headers"])
        guard = self._settings.guard
        refusal = guard.refusal(headers)
        if refusal is not None:
            await respond(send, 403, refusal.encode(), (TEXT_TYPE,))
            return
        if "origin" in headers:
            send = _with_headers(send, guard.cors(headers))
        if scope["method"] == "OPTIONS":
            await respond(send, 204, headers=guard.preflight(headers))
            return
        await self._route(Exchange(scope, receive, send, headers, repeated))

    def _route(self, exchange: Exchange) -> Awaitable[None]:
        scope, send = exchange.scope, exchange.send
        path = scope["path"]
        if path == HEALTH:
            return respond(send, 200, b"ok\n", (TEXT_TYPE,))
        methods = self._routes.get(path)
        if methods is None:
            return self._route_extra(exchange)
        route = methods.get(scope["method"])
        if route is None:
            return respond(send, 405, b"", ((b"allow", ", ".join(methods).encode()),))
        everybody = self._settings.authenticator.everybody
        if everybody is None:
            return self._route_admitted(exchange, route)
        exchange.caller = everybody
        return route(exchange)

    async def _route_admitted(self, exchange: Exchange, route: Route) -> None:
        if await self._admit(exchange):
            await route(exchange)

    async def _route_extra(self, exchange: Exchange) -> None:
        scope, send = exchange.scope, exchange.send
        private = self._private.get(scope["path"])
        extra = private or self._find_extra(scope["path"])
        if extra is None:
            await respond(send, 404, b"Not found: the MCP endpoint is /mcp\n", (TEXT_TYPE,))
            return
        if private is not None:
            if not await self._admit(exchange):
                return
            scope[CALLER] = exchange.caller
        await extra(scope, exchange.receive, send)

    def _find_extra(self, path: str) -> AsgiApp | None:
        if path in self._extra:
            return self._extra[path]
        for prefix, app in self._extra.items():
            if prefix.endswith("/") and path.startswith(prefix):
                return app
        return None

    async def _admit(self, exchange: Exchange) -> bool:
        """Find out who is calling; 401 for everyone that we do not know."""
        sent: list[str] = []
        if "authorization" in exchange.headers:
            raw = exchange.scope["headers"]
            sent = [value.decode("latin-1") for name, value in raw if name == b"authorization"]
        try:
            exchange.caller = await self._settings.authenticator.caller(sent)
        except Unauthorized as refused:
            challenge = (b"www-authenticate", refused.challenge.encode("latin-1", "replace"))
            error = ProtocolError(INVALID_REQUEST, "Unauthorized")
            await exchange.refuse(refused.status, error, headers=(challenge,))
            return False
        return True

    async def _post(self, exchange: Exchange) -> None:
        refused = _refusal(exchange.headers)
        if refused is not None:
            await exchange.refuse(*refused)
            return
        most = self._settings.max_body
        try:
            body = body_at_hand(exchange.receive, most)
            if body is None:
                body = await read_body(exchange.receive, most)
        except BodyTooLarge:
            why = f"a body may have {most} bytes"
            await exchange.refuse(413, ProtocolError(INVALID_REQUEST, "Body too large", why))
            return
        except Disconnected:
            return
        message = self._edge.decode(body)
        await self._endpoint(exchange, message).post(exchange, message)

    def _endpoint(
        self, exchange: Exchange, message: Message | list[Message]
    ) -> ModernEndpoint | LegacyEndpoint | PairEndpoint:
        if exchange.scope["path"] == MESSAGES:
            return self._pair
        return self._modern if _speaks_modern(exchange, message) else self._legacy

    async def _get(self, exchange: Exchange) -> None:
        if exchange.headers.get("mcp-protocol-version") in MODERN:
            await respond(exchange.send, 405, b"", ((b"allow", b"POST"),))
            return
        await self._legacy.get(exchange)

    async def _delete(self, exchange: Exchange) -> None:
        if exchange.headers.get("mcp-protocol-version") in MODERN:
            await respond(exchange.send, 405, b"", ((b"allow", b"POST"),))
            return
        await self._legacy.delete(exchange)

    async def drain(self) -> None:
        """End streams that wait for news, so that open connections finish; calls go on."""
        self.sessions.end_idle()

    def close(self) -> None:
        """End every session, with its calls."""
        self.sessions.close()


def _speaks_modern(exchange: Exchange, message: Message | list[Message]) -> bool:
    """Body first: the envelope decides, then `initialize`, then the headers."""
    if isinstance(message, list):
        return False
    if not isinstance(message, Malformed) and is_modern(getattr(message, "params", {})):
        return True
    if isinstance(message, Request) and message.method == "initialize":
        return exchange.headers.get("mcp-protocol-version") in MODERN
    version = exchange.headers.get("mcp-protocol-version")
    return (
        version is not None
        and version not in HANDSHAKE
        and "mcp-session-id" not in exchange.headers
    )


def _refusal(headers: Mapping[str, str]) -> tuple[int, ProtocolError] | None:
    """Why the body of a POST is not even read."""
    content_type = headers.get("content-type", "")
    if content_type != JSON and content_type.partition(";")[0].strip().lower() != JSON:
        return 415, ProtocolError(INVALID_REQUEST, "Content-Type must be application/json")
    accept = headers.get("accept", "*/*").lower()
    if not ("*/*" in accept or "application/" in accept or "text/event-stream" in accept):
        wanted = "Accept must list application/json and text/event-stream"
        return 406, ProtocolError(INVALID_REQUEST, wanted)
    return None


def _with_headers(send: Send, more: tuple[Header, ...]) -> Send:
    async def wrapped(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message["headers"], *more]}
        await send(message)

    return wrapped
