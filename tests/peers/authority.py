"""A small authorization server on a real socket: PKCE, JWKS, refresh, revocation.

Signs real tokens. A login needs no person: the authorization endpoint redirects at once.
Knows nothing of MCP.
"""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlencode

import jwt
from cryptography.hazmat.primitives.asymmetric import ec

from tests.peers.web import Answer, Asked, Site, serving_site


@dataclass
class Authority:
    """What it does is what its fields say; what it was asked is in `site.asked`."""

    lifetime: float = 3600
    renews: bool = True
    challenge_methods: list[str] | None = field(default_factory=lambda: ["S256"])
    iss: str | None = "own"  # "own", "absent", or what to say in its place
    iss_advertised: bool = True
    scopes: list[str] | None = None
    subject: str = "ada"
    site: Site = field(default_factory=Site)
    key: ec.EllipticCurvePrivateKey = field(
        default_factory=lambda: ec.generate_private_key(ec.SECP256R1())
    )
    kid: str = "k1"
    codes: dict[str, dict[str, str]] = field(default_factory=dict)
    refreshers: dict[str, dict[str, str]] = field(default_factory=dict)
    revoked: set[str] = field(default_factory=set)
    overrides: dict[str, Any] = field(default_factory=dict)

    @property
    def issuer(self) -> str:
        return self.site.origin

    def __post_init__(self) -> None:
        self.site.routes |= {
            "/.well-known/oauth-authorization-server": self.metadata,
            "/jwks": self.jwks,
            "/authorize": self.authorize,
            "/token": self.token,
            "/register": self.register,
            "/revoke": self.revoke,
        }

    def metadata(self, asked: Asked) -> Answer:
        said = {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "registration_endpoint": f"{self.issuer}/register",
            "revocation_endpoint": f"{self.issuer}/revoke",
            "jwks_uri": f"{self.issuer}/jwks",
            "authorization_response_iss_parameter_supported": self.iss_advertised,
        }
        if self.challenge_methods is not None:
            said["code_challenge_methods_supported"] = self.challenge_methods
        if self.scopes is not None:
            said["scopes_supported"] = self.scopes
        return Answer.of({**said, **self.overrides})

    def jwks(self, asked: Asked) -> Answer:
        public = json.loads(jwt.algorithms.ECAlgorithm.to_jwk(self.key.public_key()))
        return Answer.of({"keys": [{**public, "kid": self.kid, "alg": "ES256", "use": "sig"}]})

    def authorize(self, asked: Asked) -> Answer:
        query = asked.query
        code = secrets.token_urlsafe(16)
        self.codes[code] = query
        back = {"code": code, "state": query["state"]}
        if self.iss != "absent":
            back["iss"] = self.issuer if self.iss == "own" else str(self.iss)
        return Answer(302, headers={"Location": f"{query['redirect_uri']}?{urlencode(back)}"})

    def token(self, asked: Asked) -> Answer:
        form = dict(parse_qsl(asked.body.decode()))
        if form.get("grant_type") == "refresh_token":
            known = self.refreshers.pop(form.get("refresh_token", ""), None)
        elif form.get("grant_type") == "client_credentials":
            known = form
        else:
            known = self.codes.pop(form.get("code", ""), None)
            if known is None or not proves(form.get("code_verifier", ""), known["code_challenge"]):
                known = None
        if known is None or form.get("resource") != known.get("resource"):
            return Answer.of({"error": "invalid_grant"}, 400)
        return Answer.of(self.grant(known))

    def grant(self, known: dict[str, str]) -> dict[str, Any]:
        refresher = secrets.token_urlsafe(16)
        self.refreshers[refresher] = known
        return {
            "access_token": self.sign(aud=known["resource"], scope=known.get("scope", "")),
            "token_type": "Bearer",
            "expires_in": self.lifetime,
            **({"refresh_token": refresher} if self.renews else {}),
            "scope": known.get("scope", ""),
        }

    def register(self, asked: Asked) -> Answer:
        return Answer.of({**json.loads(asked.body), "client_id": secrets.token_urlsafe(8)}, 201)

    def revoke(self, asked: Asked) -> Answer:
        token = dict(parse_qsl(asked.body.decode()))["token"]
        self.revoked.add(token)
        self.refreshers.pop(token, None)
        return Answer(200)

    def sign(self, *, headers: dict[str, Any] | None = None, **claims: Any) -> str:
        """A token; `claims` win over the usual ones, and None leaves one out."""
        now = int(time.time())
        usual = {"iss": self.issuer, "sub": self.subject, "iat": now, "exp": now + self.lifetime}
        usual["jti"] = secrets.token_hex(4)
        said = {k: v for k, v in {**usual, **claims}.items() if v is not None}
        return jwt.encode(
            said, self.key, algorithm="ES256", headers={"kid": self.kid, **(headers or {})}
        )

    def claims(self, token: str, audience: str) -> dict[str, Any] | None:
        """What a token says, if it is good at that resource."""
        try:
            key = self.key.public_key()
            found: dict[str, Any] = jwt.decode(token, key, algorithms=["ES256"], audience=audience)
            return found
        except jwt.PyJWTError:
            return None


def proves(verifier: str, challenge: str) -> bool:
    digest = hashlib.sha256(verifier.encode()).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode() == challenge


@contextmanager
def authority(**options: Any) -> Iterator[Authority]:
    made = Authority(**options)
    with serving_site(made.site):
        yield made
