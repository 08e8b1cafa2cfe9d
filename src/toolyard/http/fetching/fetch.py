"""Fetch a document from a URL that somebody else named.

Only https, or http on loopback if that is allowed. Addresses are checked before they are
dialled, and redirects as strictly as the first URL.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import orjson

from toolyard.http.fetching.addresses import NotAllowed, address_in
from toolyard.http.fetching.client import HttpClient, ResponseTooLarge, Url, media_type
from toolyard.http.fetching.connection import HttpError
from toolyard.http.fetching.dial import GuardedDial

MAX_REDIRECTS = 3
_REDIRECTS = (301, 302, 303, 307, 308)


class FetchError(Exception):
    """Nothing usable came back. `why` is the reason alone; the text also names the URL."""

    def __init__(self, url: str, why: str) -> None:
        super().__init__(f"{shown(url)}: {why}")
        self.why = why


class Forbidden(FetchError):
    """The URL may not be fetched at all."""


class DocumentTooLarge(FetchError):
    """The document has more bytes than the bounds allow."""


class TooSlow(FetchError):
    """The document did not arrive in the time that the bounds allow."""


@dataclass(frozen=True, slots=True)
class FetchBounds:
    """The limits of one fetch, with all its redirects."""

    seconds: float = 15.0
    max_body: int = 1024 * 1024


BOUNDS = FetchBounds()


@dataclass(frozen=True, slots=True)
class Fetched:
    """The answer to a fetch, whatever its status."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    url: str

    @property
    def content_type(self) -> str:
        return media_type(self.headers.get("content-type", ""))

    @property
    def object(self) -> dict[str, Any]:
        """The JSON object that it is; empty where it is anything else."""
        try:
            value = orjson.loads(self.body)
        except ValueError:
            return {}
        return value if isinstance(value, dict) else {}


class GuardedFetch:
    """`own` is a URL that the operator named: its host may be anywhere, others may not."""

    def __init__(
        self,
        own: str = "",
        *,
        dial: GuardedDial | None = None,
        bounds: FetchBounds = BOUNDS,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        url = Url.parse(own) if own else None
        self._own = url.origin if url else None
        self._loopback = url is not None and is_loopback(own)
        trusted_hosts = frozenset({(url.host, url.port)} if url else ())
        self._dial = dial or GuardedDial(loopback=self._loopback, trusted_hosts=trusted_hosts)
        self._bounds = bounds
        self._tls = tls

    async def __call__(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str] | None = None,
        body: bytes = b"",
        *,
        follow: bool = False,
    ) -> Fetched:
        """The answer, whatever its status. Raises FetchError."""
        bounds = self._bounds
        try:
            async with asyncio.timeout(bounds.seconds):
                return await self._fetch(method, url, headers or {}, body, follow)
        except NotAllowed as error:
            raise Forbidden(url, str(error)) from None
        except TimeoutError:
            raise TooSlow(url, f"no answer within {bounds.seconds:g} s") from None
        except ResponseTooLarge as error:
            raise DocumentTooLarge(url, str(error)) from None
        except HttpError as error:
            raise FetchError(url, str(error)) from None

    async def _fetch(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes, follow: bool
    ) -> Fetched:
        client = HttpClient(self._dial, self._tls)
        try:
            target = self._checked(url)
            for _ in range(MAX_REDIRECTS + 1):
                document = await self._once(client, method, target, headers, body)
                if not follow or document.status not in _REDIRECTS:
                    return document
                target = self._redirected(target, document.headers.get("location", ""))
            raise FetchError(url, "it redirects too often")
        finally:
            await client.close()

    async def _once(
        self, client: HttpClient, method: str, url: Url, headers: Mapping[str, str], body: bytes
    ) -> Fetched:
        response = await client.request(method, url, headers, body)
        try:
            content = bytes(await response.read(self._bounds.max_body))
        finally:
            response.close()
        return Fetched(response.status, response.headers, content, url.text)

    def _redirected(self, url: Url, location: str) -> Url:
        try:
            return self._checked(url.join(location).text)
        except ValueError:
            raise FetchError(url.text, "it redirects to nowhere") from None

    def _checked(self, text: str) -> Url:
        try:
            url = Url.parse(text)
            parts = urlsplit(text)
        except ValueError:
            raise Forbidden(text, "not an http(s) URL") from None
        if any(not "!" <= char <= "~" for char in text) or parts.username is not None:
            raise Forbidden(text, "the URL is malformed")
        plain = url.origin == self._own or (self._loopback and is_loopback(text))
        if url.scheme != "https" and not plain:
            raise Forbidden(text, "the URL must be https")
        return url


def is_loopback(url: str) -> bool:
    """Does this URL name the machine itself?"""
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        return False
    address = address_in(host)
    return host == "localhost" or (address is not None and address.is_loopback)


def shown(url: str) -> str:
    """The URL for a message: no query, which may hold a secret, and nothing that breaks a line."""
    return "".join(char if " " < char <= "~" else "?" for char in url.partition("?")[0])[:200]
