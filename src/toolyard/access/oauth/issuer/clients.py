"""As which client we ask: pre-registered, by a metadata document, or registered on the spot."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace

import orjson

from toolyard.access.oauth.config import ServerOAuth
from toolyard.access.oauth.errors import OAuthError, OAuthRefusal
from toolyard.access.oauth.issuer.metadata import AuthorizationServer
from toolyard.http.fetching.fetch import FetchError, GuardedFetch, is_loopback
from toolyard.protocol.call import JsonObject

CLIENT_NAME = "Toolyard"
_BY_PREFERENCE = ("client_secret_basic", "client_secret_post")


@dataclass(frozen=True, slots=True)
class OAuthClient:
    """Who we are to one authorization server."""

    id: str
    issuer: str
    secret: str = ""
    method: str = "none"
    redirect_uri: str = ""  # what a registered client may be called back at
    key: str = ""  # PEM
    algorithm: str = "ES256"

    def pack(self) -> JsonObject:
        """What is kept. The key stays in the registry, where it came from."""
        return {**asdict(self), "key": ""}

    @classmethod
    def unpack(cls, record: JsonObject) -> OAuthClient:
        return cls(**record)

    def __repr__(self) -> str:
        return f"OAuthClient({self.id!r} at {self.issuer!r})"


def preregistered(config: ServerOAuth, issuer: AuthorizationServer) -> OAuthClient | None:
    """The client that the registry names, if it does."""
    if not config.client_id:
        return None
    if config.issuer and config.issuer != issuer.issuer:
        raise OAuthError(
            f"the client of the registry belongs to {config.issuer}, "
            f"and the server now names {issuer.issuer}"
        )
    client = OAuthClient(config.client_id, issuer.issuer, config.client_secret)
    if config.private_key:
        return replace(
            client, method="private_key_jwt", key=config.private_key, algorithm=config.algorithm
        )
    return replace(client, method=_method(issuer, bool(config.client_secret)))


def by_document(issuer: AuthorizationServer, document_url: str) -> OAuthClient | None:
    """The URL of our metadata document is our client id, where that is understood."""
    if not document_url or not issuer.metadata_document_clients:
        return None
    return OAuthClient(document_url, issuer.issuer)


async def register(
    fetch: GuardedFetch, issuer: AuthorizationServer, redirect_uri: str
) -> OAuthClient:
    """Dynamic registration. Raises OAuthError."""
    if issuer.registration_endpoint is None:
        raise OAuthError(
            f"{issuer.issuer} does not register clients by itself: "
            "put a clientId for it into the server's `oauth` in the registry"
        )
    method = _registered_method(issuer)
    body = orjson.dumps(registration(redirect_uri, method))
    headers = {"Content-Type": "application/json", "Accept": "application/json"}
    try:
        answer = await fetch("POST", issuer.registration_endpoint, headers, body)
    except FetchError as error:
        raise OAuthError(f"registration failed: {error}") from None
    fields = answer.object
    if answer.status not in (200, 201):
        raise OAuthRefusal(
            str(fields.get("error", f"HTTP {answer.status}")), "registration was refused"
        )
    return _registered(fields, issuer, redirect_uri, method)


def registration(redirect_uri: str, method: str = "none") -> JsonObject:
    """What we say about ourselves, to register or in a metadata document."""
    return {
        "client_name": CLIENT_NAME,
        "redirect_uris": [redirect_uri],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": method,
        "application_type": "native" if is_loopback(redirect_uri) else "web",
    }


def _registered(
    fields: JsonObject, issuer: AuthorizationServer, redirect_uri: str, method: str
) -> OAuthClient:
    client_id, secret = fields.get("client_id"), fields.get("client_secret")
    if not isinstance(client_id, str) or not client_id:
        raise OAuthError("the registration answer has no client id")
    granted_method = fields.get("token_endpoint_auth_method", method)
    secret = secret if isinstance(secret, str) else ""
    if granted_method not in _BY_PREFERENCE or not secret:
        granted_method = "none"
    return OAuthClient(client_id, issuer.issuer, secret, granted_method, redirect_uri)


def _registered_method(issuer: AuthorizationServer) -> str:
    """A public client where that is allowed: PKCE protects it, and there is nothing to lose."""
    if issuer.token_methods is None or "none" in issuer.token_methods:
        return "none"
    return _method(issuer, has_secret=True)


def _method(issuer: AuthorizationServer, has_secret: bool) -> str:
    if not has_secret:
        return "none"
    methods = issuer.token_methods or _BY_PREFERENCE
    return next((method for method in _BY_PREFERENCE if method in methods), _BY_PREFERENCE[0])
