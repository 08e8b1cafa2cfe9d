"""The page and its API as one ASGI app. Files are open to all, data only to the token's holder."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from time import monotonic
from typing import TypeAlias
from urllib.parse import parse_qs

import orjson

from toolyard.asgi import (
    JSON_TYPE,
    TEXT_TYPE,
    BodyTooLarge,
    Disconnected,
    Header,
    Receive,
    Scope,
    Send,
    read_body,
    respond,
)
from toolyard.auth.callers import Unauthorized
from toolyard.auth.tokens import OneToken
from toolyard.protocol.call import Json, JsonObject
from toolyard.web.detail import detail
from toolyard.web.encode import encoded
from toolyard.web.listing import Listed
from toolyard.web.live import Live
from toolyard.web.overview import overview
from toolyard.web.records import full, line
from toolyard.web.runs import METHODS, Runs
from toolyard.web.static import NOT_BUILT, File
from toolyard.web.stream import stream
from toolyard.web.window import Window

MAX_BODY = 16 * 1024 * 1024
SECURITY: tuple[Header, ...] = (
    (
        b"content-security-policy",
        b"default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
        b"img-src 'self' data:; media-src data:; base-uri 'none'; form-action 'none'; "
        b"frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
    ),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
)
PRIVATE: tuple[Header, ...] = (JSON_TYPE, (b"cache-control", b"no-store"), *SECURITY)


@dataclass(frozen=True, slots=True)
class Ask:
    """One request to the API."""

    receive: Receive
    send: Send
    query: Mapping[str, str]
    rest: tuple[str, ...]  # the path's parts after the route's own


Route: TypeAlias = Callable[[Ask], Awaitable[None]]


class Refused(Exception):
    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


class Site:
    def __init__(self, window: Window, token: str, files: Mapping[str, File]) -> None:
        self._window = window
        self._token = OneToken("page", token)
        self._files = files
        self._runs = Runs(window)
        self._listed: Listed | None = None
        self._started = monotonic()
        self._open: set[Live] = set()
        self._routes: Mapping[tuple[str, str], Route] = {
            ("GET", "overview"): self._overview,
            ("GET", "catalog"): self._catalog,
            ("GET", "entry"): self._entry,
            ("GET", "events"): self._events,
            ("POST", "calls"): self._calls,
            ("DELETE", "calls"): self._cancel,
            ("GET", "traffic"): self._traffic,
            ("DELETE", "traffic"): self._forget,
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path: str = scope["path"]
        if path == "/api" or path.startswith("/api/"):
            await self._api(scope, receive, send)
        else:
            await self._static(scope, send)

    # -- files -------------------------------------------------------------------------

    async def _static(self, scope: Scope, send: Send) -> None:
        if scope["method"] not in ("GET", "HEAD"):
            await respond(send, 405, b"", ((b"allow", b"GET, HEAD"), *SECURITY))
            return
        file = self._files.get(scope["path"])
        if file is None:
            await self._no_file(scope["path"], send)
            return
        kept = b"public, max-age=31536000, immutable" if file.forever else b"no-cache"
        headers = ((b"etag", file.etag), (b"cache-control", kept), *SECURITY)
        if (b"if-none-match", file.etag) in scope["headers"]:
            await respond(send, 304, b"", headers)
            return
        body = b"" if scope["method"] == "HEAD" else file.body
        await respond(send, 200, body, ((b"content-type", file.content_type), *headers))

    async def _no_file(self, path: str, send: Send) -> None:
        if path == "/" and not self._files:
            await respond(send, 503, NOT_BUILT.encode(), (TEXT_TYPE, *SECURITY))
            return
        await respond(send, 404, b"Not found: the MCP endpoint is /mcp\n", (TEXT_TYPE, *SECURITY))

    # -- the API -----------------------------------------------------------------------

    async def _api(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self._admit(scope)
            name, rest = _parts(scope["path"])
            route = self._routes.get((scope["method"], name))
            if route is None:
                raise Refused(*self._unknown(name))
            await route(Ask(receive, send, _query(scope), rest))
        except Unauthorized as refused:
            challenge = (b"www-authenticate", refused.challenge.encode())
            await respond(
                send, 401, _error("the page's token is missing or wrong"), (challenge, *PRIVATE)
            )
        except Refused as refused:
            await respond(send, refused.status, _error(refused.message), PRIVATE)
        except Disconnected:
            return

    async def _admit(self, scope: Scope) -> None:
        sent = [v.decode("latin-1") for k, v in scope["headers"] if k == b"authorization"]
        await self._token.caller(sent)

    def _unknown(self, name: str) -> tuple[int, str]:
        methods = [method for method, known in self._routes if known == name]
        return (405, f"use {', '.join(methods)}") if methods else (404, "no such route")

    async def _overview(self, ask: Ask) -> None:
        listed = await self._current()
        await _answer(ask, overview(self._window, listed, monotonic() - self._started))

    async def _catalog(self, ask: Ask) -> None:
        listed = await self._current()
        await respond(ask.send, 200, listed.body, PRIVATE)

    async def _current(self) -> Listed:
        catalog = self._window.catalog()
        if self._listed is None or self._listed.catalog is not catalog:
            self._listed = await asyncio.to_thread(Listed, catalog)
        return self._listed

    async def _entry(self, ask: Ask) -> None:
        catalog = self._window.catalog()
        kind, name = ask.query.get("kind", "tools"), ask.query.get("name", "")
        found = detail(self._window, catalog, kind, name)
        if found is None:
            raise Refused(404, f"there is no such entry among the {kind} (any more)")
        await _answer(ask, found)

    async def _events(self, ask: Ask) -> None:
        live = Live(self._window)
        following = asyncio.ensure_future(live.follow())
        self._open.add(live)
        try:
            await stream(live.events, ask.receive, ask.send, SECURITY)
        finally:
            self._open.discard(live)
            following.cancel()

    # -- calls -------------------------------------------------------------------------

    async def _calls(self, ask: Ask) -> None:
        body = await _json(ask)
        if ask.rest:
            await self._answers(ask, body)
            return
        method, params = body.get("method"), body.get("params", {})
        if method not in METHODS or not isinstance(params, dict):
            raise Refused(400, "a call has a method that the page may use, and params")
        run = self._runs.start(method, params)
        try:
            await stream(run.events, ask.receive, ask.send, SECURITY)
        finally:
            run.cancel()

    async def _answers(self, ask: Ask, answers: JsonObject) -> None:
        run = self._runs.find(ask.rest[0])
        if ask.rest[1:] != ("answers",) or run is None:
            raise Refused(404, "no such call is running")
        if not run.channel.answer(answers):
            raise Refused(409, "the call is not asking anything")
        await _answer(ask, {})

    async def _cancel(self, ask: Ask) -> None:
        run = self._runs.find(ask.rest[0]) if ask.rest else None
        if run is None:
            raise Refused(404, "no such call is running")
        run.cancel()
        await _answer(ask, {})

    # -- traffic -----------------------------------------------------------------------

    async def _traffic(self, ask: Ask) -> None:
        traffic, secrets = self._window.traffic, self._window.secrets()
        if traffic is None:
            raise Refused(404, "traffic is not recorded (the setting page_traffic is off)")
        if not ask.rest:
            lines = [line(record, secrets) for record in traffic.newest_first()]
            await _answer(ask, {"latest": traffic.latest, "lines": lines})
            return
        record = traffic.find(int(ask.rest[0])) if ask.rest[0].isdecimal() else None
        if record is None:
            raise Refused(404, "this call is not kept any more")
        await _answer(ask, full(record, self._window.catalog(), secrets))

    async def _forget(self, ask: Ask) -> None:
        if self._window.traffic is not None:
            self._window.traffic.clear()
        await _answer(ask, {})

    async def close(self) -> None:
        """End streams and calls of the page, so that its connections finish."""
        for live in self._open:
            live.events.end()
        await self._runs.close()


def _parts(path: str) -> tuple[str, tuple[str, ...]]:
    name, *rest = path.removeprefix("/api").strip("/").split("/")
    return name, tuple(rest)


def _query(scope: Scope) -> dict[str, str]:
    text = scope.get("query_string", b"").decode("latin-1")
    return {key: values[-1] for key, values in parse_qs(text).items()}


async def _json(ask: Ask) -> JsonObject:
    try:
        body = orjson.loads(await read_body(ask.receive, MAX_BODY))
    except BodyTooLarge:
        raise Refused(413, f"a body may have {MAX_BODY} bytes") from None
    except ValueError:
        raise Refused(400, "the body is not JSON") from None
    if not isinstance(body, dict):
        raise Refused(400, "the body is not an object")
    return body


async def _answer(ask: Ask, value: Json) -> None:
    await respond(ask.send, 200, encoded(value), PRIVATE)


def _error(message: str) -> bytes:
    return encoded({"error": message})
