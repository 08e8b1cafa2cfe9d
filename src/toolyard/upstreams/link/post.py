"""HTTP requests to one upstream: its headers, its credentials, redirects, refusals."""

from __future__ import annotations

from collections.abc import Mapping

import orjson

from toolyard.http.challenge import Challenge
from toolyard.http.fetching.client import CannotReach, ClientResponse, HttpClient, Url
from toolyard.http.fetching.connection import Broken, HttpError
from toolyard.protocol.call import JsonObject
from toolyard.upstreams.auth import Credentials
from toolyard.upstreams.link.link import CredentialsError, Lost, NotSent, Refusal

MAX_TRIES = 4
MAX_ERROR_BODY = 1024 * 1024
SHOWN_ERROR = 300


class Requester:
    """Sends requests to one origin on behalf of one caller."""

    def __init__(
        self,
        url: Url,
        headers: Mapping[str, str],
        client: HttpClient,
        credentials: Credentials,
        max_message: int,
    ) -> None:
        self.url = url
        self._headers = headers
        self._client = client
        self._credentials = credentials
        self.max_message = max_message

    async def send(
        self,
        method: str,
        headers: Mapping[str, str],
        body: bytes = b"",
        *,
        url: Url | None = None,
        repeatable: bool = False,
        lines: bytes = b"",
    ) -> ClientResponse:
        """The response, whatever its status, after redirects and challenges."""
        target = url or self.url
        for _ in range(MAX_TRIES):
            whole = await self._authorized(headers) if self._credentials.needed else headers
            if self._headers:
                whole = {**self._headers, **whole}
            try:
                response = await self._client.request(method, target, whole, body, lines)
            except CannotReach as error:
                raise NotSent(str(error)) from None
            except Broken as error:
                # The peer closed an idle connection just then. Asking again is safe for some.
                if not (repeatable and error.unanswered):
                    raise Lost(str(error)) from None
                response = await self._send_again(method, target, whole, body, lines)
            if response.status == 200:
                return response
            if response.status in (307, 308):
                target = self._redirected(response, target)
            elif response.status not in (401, 403) or not await self._challenged(response, target):
                return response
            response.close()
        raise Refusal(response.status, "after several attempts")

    async def _authorized(self, headers: Mapping[str, str]) -> Mapping[str, str]:
        return {**await self._credentials.headers(), **headers}

    async def _send_again(
        self, method: str, url: Url, headers: Mapping[str, str], body: bytes, lines: bytes
    ) -> ClientResponse:
        try:
            return await self._client.request(method, url, headers, body, lines)
        except HttpError as error:
            raise Lost(str(error)) from None

    def _redirected(self, response: ClientResponse, url: Url) -> Url:
        location = response.headers.get("location", "")
        response.close()
        try:
            target = url.join(location)
        except ValueError:
            raise Refusal(response.status, "it redirects to nowhere") from None
        # Credentials and arguments go to no other origin than the registry names.
        if target.origin != url.origin:
            raise Refusal(response.status, "it redirects to another origin")
        return target

    async def _challenged(self, response: ClientResponse, url: Url) -> bool:
        """True when the request is worth repeating with other credentials."""
        header = response.headers.get("www-authenticate", "")
        if response.status != 401 and not (response.status == 403 and header):
            return False
        try:
            if await self._credentials.renewed(Challenge(response.status, header, url.text)):
                return True
        finally:
            response.close()
        raise CredentialsError(f"answered HTTP {response.status}: it wants other credentials")


async def refusal(response: ClientResponse) -> Refusal:
    """What a status other than success means, with the error in its body."""
    try:
        body = bytes(await response.read(MAX_ERROR_BODY))
    except HttpError:
        body = b""
    error = _error_in(body)
    if error is not None:
        return Refusal(response.status, str(error.get("message", "")), error)
    html = response.content_type == "text/html"
    text = "" if html else body[:SHOWN_ERROR].decode("utf-8", "replace").strip()
    return Refusal(response.status, text)


def _error_in(body: bytes) -> JsonObject | None:
    try:
        value = orjson.loads(body)
    except ValueError:
        return None
    error = value.get("error") if isinstance(value, dict) else None
    return error if isinstance(error, dict) and isinstance(error.get("code"), int) else None
