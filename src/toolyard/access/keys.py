"""The public keys of an issuer: fetched when first needed, kept, fetched again in moderation."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import orjson

from toolyard.access.oauth.issuer.metadata import is_web_url, issuer_urls
from toolyard.http.fetching.fetch import FetchError, GuardedFetch
from toolyard.protocol.call import Json
from toolyard.telemetry import logger

if TYPE_CHECKING:
    from jwt import PyJWK

log = logger("auth")
FRESH = 3600.0
# A stranger's made-up key ids must not make us fetch all the time.
PAUSE = 30.0


class NoKeys(Exception):
    """The issuer's keys cannot be fetched at present."""


class KeySet:
    """The signing keys of one issuer, by their ids."""

    def __init__(
        self,
        issuer: str,
        fetch: GuardedFetch,
        *,
        jwks_uri: str = "",
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._issuer = issuer
        self._fetch = fetch
        self._jwks_uri = jwks_uri
        self._clock = clock
        self._keys: Mapping[str, PyJWK] = {}
        self._fetched = self._tried = float("-inf")
        self._lock = asyncio.Lock()

    async def find(self, kid: str | None) -> PyJWK | None:
        """The key of that id, or the only one where no id is given. Raises NoKeys."""
        key = self._known(kid)
        if key is not None and self._clock() - self._fetched < FRESH:
            return key
        await self._refresh()
        return self._known(kid)

    def _known(self, kid: str | None) -> PyJWK | None:
        if kid is not None:
            return self._keys.get(kid)
        return next(iter(self._keys.values())) if len(self._keys) == 1 else None

    async def _refresh(self) -> None:
        async with self._lock:
            if self._clock() - self._tried < PAUSE:
                if not self._keys:
                    raise NoKeys
                return
            self._tried = self._clock()
            try:
                self._keys = _signing_keys(await self._document(await self._uri()))
                self._fetched = self._clock()
            except (FetchError, ValueError) as error:
                log.warning("the keys of %s cannot be fetched: %s", self._issuer, error)
                if not self._keys:
                    raise NoKeys from None

    async def _uri(self) -> str:
        if self._jwks_uri:
            return self._jwks_uri
        for url in issuer_urls(self._issuer):
            response = await self._fetch("GET", url, {"Accept": "application/json"}, follow=True)
            if response.status != 200:
                continue
            metadata = orjson.loads(response.body)
            if not isinstance(metadata, dict) or metadata.get("issuer") != self._issuer:
                raise ValueError("its metadata belongs to another issuer")
            uri = metadata.get("jwks_uri")
            if isinstance(uri, str) and is_web_url(uri):
                return uri
        raise ValueError("its metadata names no key set")

    async def _document(self, uri: str) -> Json:
        response = await self._fetch("GET", uri, {"Accept": "application/json"}, follow=True)
        if response.status != 200:
            raise ValueError(f"{uri} answered HTTP {response.status}")
        return orjson.loads(response.body)


def _signing_keys(document: Json) -> dict[str, PyJWK]:
    # 50 ms, and only servers that accept tokens of an issuer need it.
    from jwt import PyJWK, PyJWTError  # noqa: PLC0415

    items = document.get("keys") if isinstance(document, dict) else None
    if not isinstance(items, list):
        raise ValueError("it is not a key set")
    keys: dict[str, PyJWK] = {}
    for item in items:
        # A shared secret in a public document would let anybody sign.
        if not isinstance(item, dict) or item.get("kty") == "oct" or item.get("use") == "enc":
            continue
        try:
            keys[str(item.get("kid", f"#{len(keys)}"))] = PyJWK.from_dict(item)
        except PyJWTError:
            continue
    return keys
