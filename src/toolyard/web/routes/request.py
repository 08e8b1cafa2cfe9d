"""One request to the page's API, and the ways to answer it."""

from __future__ import annotations

from dataclasses import dataclass

import orjson

from toolyard.http.headers import JSON_TYPE, Header
from toolyard.http.request import BodyTooLarge, Request
from toolyard.http.response import Response
from toolyard.protocol.call import Json, JsonObject
from toolyard.web.encode import encoded

MAX_BODY = 16 * 1024 * 1024
SECURITY: tuple[Header, ...] = (
    (
        b"content-security-policy",
        b"default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
        b"img-src 'self' data:; media-src data:; frame-src 'self'; base-uri 'none'; "
        b"form-action 'none'; frame-ancestors 'none'; "
        b"require-trusted-types-for 'script'; trusted-types 'none'",
    ),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
)
# The document that pages of MCP Apps are drawn in: their own scripts run, in an origin of its
# own, and nothing is fetched. Where it could lead itself, the page's `frame-src` decides. Forms
# are allowed for what their scripts make of them; none is sent anywhere. Of connections that carry
# no request (`preconnect`, WebRTC) a policy says nothing: the empty allowlist does.
FRAMED: tuple[Header, ...] = (
    (
        b"content-security-policy",
        b"default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
        b"img-src data: blob:; media-src data: blob:; font-src data:; base-uri 'none'; "
        b"form-action 'none'; frame-ancestors 'self'; sandbox allow-scripts allow-forms",
    ),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"SAMEORIGIN"),
    (b"x-dns-prefetch-control", b"off"),
    (b"connection-allowlist", b"()"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
)
PRIVATE: tuple[Header, ...] = (JSON_TYPE, (b"cache-control", b"no-store"), *SECURITY)


class ApiRefusal(Exception):
    """A request that is refused: the status and the message to send."""

    def __init__(self, status: int, message: str, **more: Json) -> None:
        super().__init__(message)
        self.status = status
        self.body = {"error": message, **more}


@dataclass(frozen=True, slots=True)
class Ask:
    """A request on its route, with the response to fill."""

    request: Request
    response: Response
    arguments: tuple[str, ...]  # the parts of the path after the route's name

    async def json(self) -> JsonObject:
        try:
            body = orjson.loads(await self.request.read(MAX_BODY))
        except BodyTooLarge:
            raise ApiRefusal(413, f"the body is larger than {MAX_BODY} bytes") from None
        except ValueError:
            raise ApiRefusal(400, "the body is not JSON") from None
        if not isinstance(body, dict):
            raise ApiRefusal(400, "the body is not a JSON object")
        return body

    async def answer(self, value: Json) -> None:
        await self.response.send(200, encoded(value), PRIVATE)
