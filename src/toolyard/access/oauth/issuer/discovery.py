"""Find who issues tokens for a server: its resource metadata, then the issuer's own."""

from __future__ import annotations

from dataclasses import dataclass

import orjson

from toolyard.access.oauth.errors import OAuthError
from toolyard.access.oauth.issuer.challenge import Wanted
from toolyard.access.oauth.issuer.metadata import (
    AuthorizationServer,
    assumed_issuer,
    canonical,
    issuer_urls,
    origin_of,
    read_issuer,
    read_resource,
    resource_urls,
)
from toolyard.http.fetching.fetch import FetchError, GuardedFetch
from toolyard.protocol.call import Json
from toolyard.protocol.revisions import LATEST

_ACCEPT = {"Accept": "application/json", "MCP-Protocol-Version": LATEST.date}


@dataclass(frozen=True, slots=True)
class Found:
    """Who issues tokens for a server, and what to say the tokens are for."""

    issuer: AuthorizationServer
    resource: str
    scopes: tuple[str, ...] | None = None


async def discover(fetch: GuardedFetch, server_url: str, demand: Wanted) -> Found:
    """Raises OAuthError."""
    try:
        return await _discover(fetch, server_url, demand)
    except FetchError as error:
        raise OAuthError(str(error)) from None


async def _discover(fetch: GuardedFetch, server_url: str, demand: Wanted) -> Found:
    document = await _first(fetch, resource_urls(server_url, demand.resource_metadata))
    if document is None:
        return Found(await _by_the_old_rule(fetch, server_url), canonical(server_url))
    resource = read_resource(document, server_url)
    issuer = resource.issuers[0]
    metadata = await _first(fetch, issuer_urls(issuer))
    if metadata is None:
        raise OAuthError(f"the authorization server {issuer} publishes no metadata")
    return Found(read_issuer(metadata, issuer), resource.resource, resource.scopes)


async def _by_the_old_rule(fetch: GuardedFetch, server_url: str) -> AuthorizationServer:
    """2025-03-26: the server's origin is its own issuer, with or without metadata."""
    origin = origin_of(server_url)
    metadata = await _first(fetch, issuer_urls(origin)[:1])
    return assumed_issuer(server_url) if metadata is None else read_issuer(metadata, origin)


async def _first(fetch: GuardedFetch, urls: list[str]) -> Json | None:
    """The first document that is there. An error of the server does not mean that it has none."""
    for url in urls:
        response = await fetch("GET", url, _ACCEPT, follow=True)
        if response.status == 200:
            try:
                return orjson.loads(response.body)
            except ValueError:
                raise OAuthError(f"{url} is not JSON") from None
        if response.status >= 500:
            raise OAuthError(f"{url} answered HTTP {response.status}")
    return None
