"""POST /oauth/connect: a caller hands over its own token for one OAuth server of the registry."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

import orjson

from toolyard.access.callers import Authenticator, Unauthorized
from toolyard.access.oauth.accounts import Accounts
from toolyard.access.oauth.config import Server
from toolyard.access.oauth.grant import Grant
from toolyard.access.oauth.issuer.clients import OAuthClient
from toolyard.access.oauth.issuer.metadata import canonical
from toolyard.http.headers import JSON_TYPE
from toolyard.http.request import BodyTooLarge, Disconnected, Request
from toolyard.http.response import Response
from toolyard.protocol.call import Caller, Json

MAX_BODY = 64 * 1024


class Connect:
    """A Responder. The token is kept for that caller, and sent to that server, alone."""

    def __init__(
        self,
        authenticator: Authenticator,
        accounts: Accounts,
        servers: Callable[[], Iterable[Server]],
    ) -> None:
        self._authenticator = authenticator
        self._accounts = accounts
        self._servers = servers  # those with `auth: "oauth"`

    async def __call__(self, request: Request, response: Response) -> None:
        try:
            caller = await self._authenticator.caller(request.authorization)
        except Unauthorized as refusal:
            headers = (JSON_TYPE, refusal.header)
            await response.send(refusal.status, _error("Unauthorized"), headers)
            return
        if request.method != "POST":
            await response.send(405, b"", ((b"allow", b"POST"),))
            return
        try:
            status, why = await self._connect(
                caller, _fields(request, await request.read(MAX_BODY))
            )
        except BodyTooLarge:
            status, why = 413, "Body too large"
        except Disconnected:
            return
        body = orjson.dumps({"status": "connected"}) if status == 200 else _error(why)
        await response.send(status, body, (JSON_TYPE,))

    async def _connect(self, caller: Caller, fields: Json) -> tuple[int, str]:
        url, token = (
            (fields.get("server_url"), fields.get("token"))
            if isinstance(fields, dict)
            else (None, None)
        )
        if not isinstance(url, str) or not url or not isinstance(token, str) or not token:
            return 400, "server_url and token are required"
        if not all("!" <= char <= "~" for char in token):
            return 400, "token is malformed"
        server = self._named(url)
        if server is None:
            return 404, "server_url is not the URL of an OAuth server in the registry"
        await self._accounts.account(server, caller).give(_given(token, canonical(url)))
        return 200, ""

    def _named(self, url: str) -> Server | None:
        address = canonical(url)
        for server in self._servers():
            if canonical(server.url or "") == address:
                return server
        return None


def _fields(request: Request, body: bytes) -> Json:
    content_type = request.headers.get("content-type", "").partition(";")[0]
    # A form of another site could send any other type without being asked for permission.
    if content_type.strip().lower() != "application/json":
        return None
    try:
        return orjson.loads(body)
    except ValueError:
        return None


def _given(token: str, url: str) -> Grant:
    now = time.time()
    return Grant(token, "", "", OAuthClient("", ""), url, now, given=True, began=now)


def _error(why: str) -> bytes:
    return orjson.dumps({"error": why})
