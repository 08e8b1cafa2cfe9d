"""Ourselves as a protected resource (RFC 9728): what we publish about who may call us."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

import orjson

from toolyard.access.jwt_tokens import Expected, JwtTokens
from toolyard.access.keys import KeySet
from toolyard.access.oauth.metadata import is_web_url
from toolyard.errors import ConfigError
from toolyard.http.fetch import GuardedFetch
from toolyard.http.headers import JSON_TYPE
from toolyard.http.request import Request
from toolyard.http.response import Responder, Response
from toolyard.protocol.call import Json

WELL_KNOWN = "/.well-known/oauth-protected-resource"
_KEYS = frozenset({"issuer", "resource", "audience", "scopes", "jwksUri"})


@dataclass(frozen=True, slots=True)
class ProtectedResource:
    """The setting `oauth`: whose tokens we take, and for which resource."""

    issuer: str
    resource: str  # our public URL
    audience: str
    scopes: tuple[str, ...] = ()
    jwks_uri: str = ""

    @property
    def path(self) -> str:
        return f"{WELL_KNOWN}{urlsplit(self.resource).path.rstrip('/')}"

    @property
    def hint(self) -> str:
        """What a challenge adds: where to learn who issues tokens, and which to ask for."""
        parts = urlsplit(self.resource)
        hint = f'resource_metadata="{parts.scheme}://{parts.netloc}{self.path}"'
        return f'{hint}, scope="{" ".join(self.scopes)}"' if self.scopes else hint

    def tokens(self) -> JwtTokens:
        keys = KeySet(self.issuer, GuardedFetch(self.issuer), jwks_uri=self.jwks_uri)
        return JwtTokens(Expected(self.issuer, self.audience, self.scopes), keys)

    def routes(self) -> Mapping[str, Responder]:
        """The metadata, below our path and at the root; open to everybody, as it must be."""
        return {self.path: self._serve, WELL_KNOWN: self._serve}

    async def _serve(self, request: Request, response: Response) -> None:
        if request.method not in ("GET", "HEAD"):
            await response.send(405, b"", ((b"allow", b"GET"),))
            return
        document: dict[str, Json] = {
            "resource": self.resource,
            "authorization_servers": [self.issuer],
            "bearer_methods_supported": ["header"],
        }
        if self.scopes:
            document["scopes_supported"] = list(self.scopes)
        await response.send(200, orjson.dumps(document), (JSON_TYPE,))


def read_resource(value: Mapping[str, Json], place: str) -> ProtectedResource:
    """Raises ConfigError."""
    for key in value:
        if key not in _KEYS:
            raise ConfigError.at(place, f"unknown key {key!r}", f"/oauth/{key}")
    issuer, resource = (_url(value, key, place) for key in ("issuer", "resource"))
    scopes = value.get("scopes", [])
    if not isinstance(scopes, list) or not all(isinstance(s, str) and s for s in scopes):
        raise ConfigError.at(place, "expected a list of scopes", "/oauth/scopes")
    jwks_uri = _url(value, "jwksUri", place) if "jwksUri" in value else ""
    audience = str(value.get("audience") or resource)
    return ProtectedResource(issuer, resource, audience, tuple(scopes), jwks_uri)


def _url(value: Mapping[str, Json], key: str, place: str) -> str:
    url = value.get(key)
    if not isinstance(url, str) or not is_web_url(url) or '"' in url:
        raise ConfigError.at(place, "expected an http(s) URL", f"/oauth/{key}")
    return url
