"""The page and its API as one Responder. Files are open to all; data needs the page's token."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TypeAlias

from toolyard.access.callers import Unauthorized
from toolyard.access.inbound import Bearers
from toolyard.access.tokens import StaticToken, StaticTokens, hash_of
from toolyard.http.headers import TEXT_TYPE
from toolyard.http.request import Disconnected, Request
from toolyard.http.response import Response
from toolyard.web.encode import encoded
from toolyard.web.routes.calls import CallRoutes
from toolyard.web.routes.care import CareRoutes
from toolyard.web.routes.context import ContextRoutes
from toolyard.web.routes.logins import LoginRoutes
from toolyard.web.routes.looking import LookRoutes
from toolyard.web.routes.registry import RegistryRoutes
from toolyard.web.routes.request import FRAMED, PRIVATE, SECURITY, ApiRefusal, Ask
from toolyard.web.routes.tasks import TaskRoutes
from toolyard.web.routes.traffic import TrafficRoutes
from toolyard.web.static import APP_FRAME, NOT_BUILT, Asset
from toolyard.web.window import Window

Route: TypeAlias = Callable[[Ask], Awaitable[None]]


class Site:
    """The page's files, its routes, and the token that guards them."""

    def __init__(self, window: Window, token: str, files: Mapping[str, Asset]) -> None:
        self._token = Bearers(StaticTokens([StaticToken("page", hash_of(token))]))
        self._files = files
        self.window = window
        self._views, self._calls = LookRoutes(window), CallRoutes(window)
        traffic, registry = TrafficRoutes(window), RegistryRoutes(window)
        logins, tasks, care = LoginRoutes(window), TaskRoutes(window), CareRoutes(window)
        self._routes: Mapping[tuple[str, str], Route] = {
            ("GET", "overview"): self._views.overview,
            ("GET", "catalog"): self._views.catalog,
            ("GET", "clients"): self._views.clients,
            ("GET", "entry"): self._views.entry,
            ("GET", "events"): self._views.events,
            ("GET", "context"): ContextRoutes(window).show,
            ("POST", "calls"): self._calls.start,
            ("POST", "answers"): self._calls.answers,
            ("DELETE", "calls"): self._calls.cancel,
            ("GET", "traffic"): traffic.show,
            ("DELETE", "traffic"): traffic.forget,
            ("GET", "tasks"): tasks.show,
            ("DELETE", "tasks"): tasks.cancel,
            ("GET", "logins"): logins.show,
            ("POST", "logins"): logins.begin,
            ("DELETE", "logins"): logins.end,
            ("GET", "history"): care.history,
            ("GET", "journal"): care.journal,
            ("POST", "retry"): care.retry,
            ("GET", "registry"): registry.show,
            ("GET", "schema"): registry.schema,
            ("POST", "registry"): registry.check,
            ("PUT", "registry"): registry.save,
        }

    async def __call__(self, request: Request, response: Response) -> None:
        path = request.path
        if path == "/api" or path.startswith("/api/"):
            await self._api(request, response)
        else:
            await self._static(request, response)

    async def _static(self, request: Request, response: Response) -> None:
        if request.method not in ("GET", "HEAD"):
            await response.send(405, b"", ((b"allow", b"GET, HEAD"), *SECURITY))
            return
        file = self._files.get(request.path)
        if file is None:
            await self._no_file(request.path, response)
            return
        lifetime = b"public, max-age=31536000, immutable" if file.forever else b"no-cache"
        security = FRAMED if request.path == APP_FRAME else SECURITY
        headers = ((b"etag", file.etag), (b"cache-control", lifetime), *security)
        if request.headers.get("if-none-match") == file.etag.decode("latin-1"):
            await response.send(304, b"", headers)
            return
        body = b"" if request.method == "HEAD" else file.body
        await response.send(200, body, ((b"content-type", file.content_type), *headers))

    async def _no_file(self, path: str, response: Response) -> None:
        if path == "/" and not self._files:
            await response.send(503, NOT_BUILT.encode(), (TEXT_TYPE, *SECURITY))
            return
        body = b"Not found: the MCP endpoint is /mcp\n"
        await response.send(404, body, (TEXT_TYPE, *SECURITY))

    async def _api(self, request: Request, response: Response) -> None:
        try:
            await self._token.caller(request.authorization)
            name, arguments = _parts(request.path)
            route = self._routes.get((request.method, name))
            if route is None:
                raise ApiRefusal(*self._unknown(name))
            await route(Ask(request, response, arguments))
        except Unauthorized as refused:
            body = encoded({"error": "the page's token is missing or wrong"})
            await response.send(401, body, (refused.header, *PRIVATE))
        except ApiRefusal as refused:
            await response.send(refused.status, encoded(refused.body), PRIVATE)
        except Disconnected:
            return

    def _unknown(self, name: str) -> tuple[int, str]:
        methods = [method for method, route in self._routes if route == name]
        return (405, f"use {', '.join(methods)}") if methods else (404, "no such route")

    async def close(self) -> None:
        """End the page's streams and calls, so that its connections finish."""
        self._views.close()
        await self._calls.close()


def _parts(path: str) -> tuple[str, tuple[str, ...]]:
    name, *arguments = path.removeprefix("/api").strip("/").split("/")
    return name, tuple(arguments)
