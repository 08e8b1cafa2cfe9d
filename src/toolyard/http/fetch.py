"""Fetch a small document from a place that somebody else named. Knows nothing about OAuth.

Only https, or http on loopback where that is allowed; addresses are checked before they are
dialled, redirects as strictly as the first URL.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import urlsplit

from toolyard.http.addresses import NotAllowed, address_in
from toolyard.http.client import HttpClient, Url
from toolyard.http.connection import HttpError
from toolyard.http.dial import GuardedDial

MAX_BODY = 1024 * 1024
MAX_REDIRECTS = 3
TIMEOUT = 15.0
_REDIRECTS = (301, 302, 303, 307, 308)


class FetchError(Exception):
    """Nothing usable came back; the text says why."""


class Forbidden(FetchError):
    """The URL may not be fetched at all."""


@dataclass(frozen=True, slots=True)
class Fetched:
    status: int
    headers: Mapping[str, str]
    body: bytes
    url: str


class Fetch(Protocol):
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


class GuardedFetch:
    """`own` is a URL that the operator named: its host may be anywhere, others may not."""

    def __init__(self, own: str = "") -> None:
        trusted: frozenset[tuple[str, int]] = frozenset()
        self._loopback = bool(own) and is_loopback(own)
        if own:
            url = Url.parse(own)
            trusted = frozenset({(url.host, url.port)})
        self._own = Url.parse(own).origin if own else None
        self._dial = GuardedDial(self._loopback, trusted)

    async def __call__(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str] | None = None,
        body: bytes = b"",
        *,
        follow: bool = False,
    ) -> Fetched:
        try:
            async with asyncio.timeout(TIMEOUT):
                return await self._fetch(method, url, headers or {}, body, follow)
        except NotAllowed as error:
            raise Forbidden(f"{shown(url)}: {error}") from None
        except TimeoutError:
            raise FetchError(f"{shown(url)} did not answer within {TIMEOUT:g} s") from None
        except HttpError as error:
            raise FetchError(f"{shown(url)}: {error}") from None

    async def _fetch(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes, follow: bool
    ) -> Fetched:
        client = HttpClient(self._dial)
        try:
            target = self._checked(url)
            for _ in range(MAX_REDIRECTS + 1):
                fetched = await _once(client, method, target, headers, body)
                if not follow or fetched.status not in _REDIRECTS:
                    return fetched
                target = self._redirected(target, fetched.headers.get("location", ""))
            raise FetchError(f"{shown(url)} redirects too often")
        finally:
            await client.close()

    def _redirected(self, url: Url, location: str) -> Url:
        try:
            return self._checked(url.join(location).text)
        except ValueError:
            raise FetchError(f"{shown(url.text)} redirects to nowhere") from None

    def _checked(self, text: str) -> Url:
        try:
            url = Url.parse(text)
            parts = urlsplit(text)
        except ValueError:
            raise Forbidden(f"{shown(text)} is no http(s) URL") from None
        if any(not "!" <= char <= "~" for char in text) or parts.username is not None:
            raise Forbidden(f"{shown(text)} is malformed")
        plain = url.origin == self._own or (self._loopback and is_loopback(text))
        if url.scheme != "https" and not plain:
            raise Forbidden(f"{shown(text)} must be https")
        return url


async def _once(
    client: HttpClient, method: str, url: Url, headers: Mapping[str, str], body: bytes
) -> Fetched:
    response = await client.request(method, url, headers, body)
    try:
        content = bytes(await response.read(MAX_BODY))
    finally:
        response.close()
    return Fetched(response.status, response.headers, content, url.text)


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
