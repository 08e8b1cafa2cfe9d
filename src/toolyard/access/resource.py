"""Ourselves as a protected resource (RFC 9728): what we publish about who may call us."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

import orjson

from toolyard.access.jwt_tokens import Expected, JwtTokens
from toolyard.access.keys import KeySet
from toolyard.access.oauth.issuer.metadata import is_web_url
from toolyard.configuration.check import Findings, check
from toolyard.configuration.objects import shape
from toolyard.http.fetching.fetch import GuardedFetch
from toolyard.http.headers import JSON_TYPE
from toolyard.http.request import Request
from toolyard.http.response import Responder, Response
from toolyard.protocol.call import Json

WELL_KNOWN = "/.well-known/oauth-protected-resource"


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


def read_resource(
    value: Mapping[str, Json], place: str, pointer: str = "/oauth"
) -> ProtectedResource:
    """Raises ConfigError with every problem."""
    findings = Findings(place)
    settings = check(dict(value), shape("access", "/$defs/oauth"), findings, pointer)
    for key in ("issuer", "resource", "jwksUri"):
        if key in settings and not is_web_url(settings[key]):
            findings.problem(f"{pointer}/{key}", "must be an http(s) URL")
    findings.close()
    return ProtectedResource(
        settings["issuer"],
        settings["resource"],
        settings.get("audience") or settings["resource"],
        tuple(settings.get("scopes", ())),
        settings.get("jwksUri", ""),
    )
