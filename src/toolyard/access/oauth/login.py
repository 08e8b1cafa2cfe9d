"""One login in a browser: the URL to open, and whether what comes back belongs to it. Pure."""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlencode

from toolyard.access.oauth.errors import OAuthError, OAuthRefusal
from toolyard.access.oauth.issuer.clients import OAuthClient
from toolyard.access.oauth.issuer.discovery import Found
from toolyard.access.oauth.issuer.metadata import is_web_url


@dataclass(frozen=True, slots=True)
class Login:
    """Made before the browser is sent away; what comes back is held against it."""

    discovery: Found
    client: OAuthClient
    redirect_uri: str
    scopes: tuple[str, ...]
    state: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    verifier: str = field(default_factory=lambda: secrets.token_urlsafe(48))

    def __repr__(self) -> str:
        return f"Login(at {self.discovery.issuer.issuer!r})"

    @property
    def url(self) -> str:
        """Raises OAuthError where it must not be opened."""
        issuer = self.discovery.issuer
        if "S256" not in (issuer.challenge_methods or ()):
            raise OAuthError(f"{issuer.issuer} does not say that it supports PKCE with S256")
        if not is_web_url(issuer.authorization_endpoint):
            raise OAuthError(f"{issuer.issuer} has no authorization endpoint")
        query = {
            "response_type": "code",
            "client_id": self.client.id,
            "redirect_uri": self.redirect_uri,
            "state": self.state,
            "code_challenge": challenge_of(self.verifier),
            "code_challenge_method": "S256",
            "resource": self.discovery.resource,
        }
        if self.scopes:
            query["scope"] = " ".join(self.scopes)
        if "offline_access" in self.scopes:
            query["prompt"] = "consent"
        separator = "&" if "?" in issuer.authorization_endpoint else "?"
        return f"{issuer.authorization_endpoint}{separator}{urlencode(query)}"

    def code_in(self, answer: Mapping[str, str]) -> str:
        """The code, if this answer is one to this login. Raises OAuthError."""
        if not hmac.compare_digest(answer.get("state", "").encode(), self.state.encode()):
            raise OAuthError("the answer belongs to another login (state)")
        self._check_issuer(answer.get("iss"))
        if "error" in answer:
            raise OAuthRefusal(answer["error"], answer.get("error_description", ""))
        code = answer.get("code", "")
        if not code:
            raise OAuthError("the answer holds no code")
        return code

    def _check_issuer(self, issuer_named: str | None) -> None:
        """RFC 9207: compared as text, without any normalisation."""
        issuer = self.discovery.issuer
        if issuer_named is None and issuer.names_itself:
            raise OAuthError("the answer does not name its issuer (iss), and should")
        if issuer_named is not None and issuer_named != issuer.issuer:
            raise OAuthError("the answer comes from another issuer (iss)")

    def form(self, code: str) -> dict[str, str]:
        return {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self.redirect_uri,
            "code_verifier": self.verifier,
            "resource": self.discovery.resource,
        }


def challenge_of(verifier: str) -> str:
    digest = hashlib.sha256(verifier.encode()).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
