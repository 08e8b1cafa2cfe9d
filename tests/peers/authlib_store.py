"""What an authorization server made with Authlib keeps: its clients, codes and tokens."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

from authlib.oauth2.rfc6749 import AuthorizationCodeMixin, ClientMixin, TokenMixin


@dataclass
class RegisteredClient(ClientMixin):
    client_id: str
    metadata: dict[str, Any]

    def get_client_id(self) -> str:
        return self.client_id

    def get_default_redirect_uri(self) -> str | None:
        return None

    def get_allowed_scope(self, scope: str | None) -> str:
        return scope or ""

    def check_redirect_uri(self, redirect_uri: str) -> bool:
        return redirect_uri in self.metadata["redirect_uris"]

    def check_client_secret(self, client_secret: str) -> bool:
        return False

    def check_endpoint_auth_method(self, method: str, endpoint: str) -> bool:
        return method == "none"

    def check_response_type(self, response_type: str) -> bool:
        return response_type in self.metadata["response_types"]

    def check_grant_type(self, grant_type: str) -> bool:
        return grant_type in self.metadata["grant_types"]


@dataclass
class Code(AuthorizationCodeMixin):
    code: str
    client_id: str
    redirect_uri: str
    scope: str
    resource: str
    code_challenge: str
    code_challenge_method: str
    user: str

    def get_redirect_uri(self) -> str:
        return self.redirect_uri

    def get_scope(self) -> str:
        return self.scope


@dataclass
class Token(TokenMixin):
    access: str
    refresh: str
    client_id: str
    scope: str
    resource: str
    user: str
    expires: float
    revoked: bool = False

    def check_client(self, client: RegisteredClient) -> bool:
        return self.client_id == client.client_id

    def get_scope(self) -> str:
        return self.scope

    def get_expires_in(self) -> float:
        return self.expires - time.time()

    def is_expired(self) -> bool:
        return time.time() >= self.expires

    def is_revoked(self) -> bool:
        return self.revoked


@dataclass
class Ledger:
    """Everything there is; `grants` says by which grants tokens were had, in turn."""

    issuer: str
    clients: dict[str, RegisteredClient] = field(default_factory=dict)
    codes: dict[str, Code] = field(default_factory=dict)
    tokens: list[Token] = field(default_factory=list)
    grants: list[str] = field(default_factory=list)
    revocations: list[str] = field(default_factory=list)  # at the revocation endpoint, by hint

    def by_access(self, token: str) -> Token | None:
        return next((one for one in self.tokens if one.access == token), None)

    def by_refresh(self, token: str) -> Token | None:
        return next((one for one in self.tokens if one.refresh == token), None)

    def live(self) -> list[Token]:
        return [token for token in self.tokens if not token.revoked]

    def claims(self, token: str, audience: str) -> dict[str, Any] | None:
        """What a token says, if it is good at that resource."""
        found = self.by_access(token)
        if found is None or found.revoked or found.is_expired() or found.resource != audience:
            return None
        return {"sub": found.user, "scope": found.scope}
