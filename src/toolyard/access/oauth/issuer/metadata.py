"""What a protected resource and an authorization server publish about themselves. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from toolyard.access.oauth.errors import OAuthError
from toolyard.protocol.call import Json, JsonObject

_WELL_KNOWN = "/.well-known"
_PRM = f"{_WELL_KNOWN}/oauth-protected-resource"
_AS = f"{_WELL_KNOWN}/oauth-authorization-server"
_OPENID = f"{_WELL_KNOWN}/openid-configuration"


@dataclass(frozen=True, slots=True)
class ResourceMetadata:
    """What a server says about who issues tokens for it (RFC 9728)."""

    resource: str
    issuers: tuple[str, ...]
    scopes: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class AuthorizationServer:
    """What an issuer says about itself (RFC 8414), as far as we use it."""

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    registration_endpoint: str | None = None
    revocation_endpoint: str | None = None
    scopes: tuple[str, ...] | None = None
    token_methods: tuple[str, ...] | None = None
    # None: not said, which OAuth 2.1 forbids us to read as support.
    challenge_methods: tuple[str, ...] | None = None
    names_itself: bool = False  # `iss` comes with every authorization response
    metadata_document_clients: bool = False


def resource_urls(server_url: str, first_url: str | None) -> list[str]:
    """Where RFC 9728 metadata may be, in the order in which to look."""
    origin, path = _split(server_url)
    return list(
        dict.fromkeys(filter(None, (first_url, f"{origin}{_PRM}{path}", f"{origin}{_PRM}")))
    )


def issuer_urls(issuer: str) -> list[str]:
    """Where RFC 8414 and OpenID metadata of an issuer may be."""
    origin, path = _split(issuer)
    if not path:
        return [f"{origin}{_AS}", f"{origin}{_OPENID}"]
    return [f"{origin}{_AS}{path}", f"{origin}{_OPENID}{path}", f"{origin}{path}{_OPENID}"]


def origin_of(url: str) -> str:
    return _split(url)[0]


def _split(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}", parts.path.rstrip("/")


def canonical(url: str) -> str:
    """A server's URL as a resource identifier: RFC 8707 allows no fragment."""
    parts = urlsplit(url)
    return parts._replace(
        scheme=parts.scheme.lower(), netloc=parts.netloc.lower(), fragment=""
    ).geturl()


def covers(resource: str, server_url: str) -> bool:
    """Is the server this resource, or below it? Compared by path component."""
    try:
        server_parts, resource_parts = urlsplit(server_url), urlsplit(resource)
        same = (server_parts.scheme, server_parts.hostname, server_parts.port) == (
            resource_parts.scheme,
            resource_parts.hostname,
            resource_parts.port,
        )
    except ValueError:
        return False
    return same and f"{server_parts.path.rstrip('/')}/".startswith(
        f"{resource_parts.path.rstrip('/')}/"
    )


def read_resource(value: Json, server_url: str) -> ResourceMetadata:
    if not isinstance(value, dict):
        raise OAuthError("its resource metadata is not a JSON object")
    resource, issuers = value.get("resource"), _texts(value.get("authorization_servers"))
    if not isinstance(resource, str) or not covers(resource, server_url):
        raise OAuthError("its resource metadata is about another resource")
    if not issuers:
        raise OAuthError("its resource metadata names no authorization server")
    return ResourceMetadata(resource, issuers, _texts(value.get("scopes_supported")))


def read_issuer(value: Json, issuer: str) -> AuthorizationServer:
    if not isinstance(value, dict):
        raise OAuthError("the authorization server's metadata is not a JSON object")
    if value.get("issuer") != issuer:
        # Somebody else's metadata here could send codes and secrets to their endpoints.
        raise OAuthError("the authorization server's metadata belongs to another issuer")
    return AuthorizationServer(
        issuer,
        _web(value, "authorization_endpoint") or "",
        _required(value, "token_endpoint"),
        _web(value, "registration_endpoint"),
        _web(value, "revocation_endpoint"),
        _texts(value.get("scopes_supported")),
        _texts(value.get("token_endpoint_auth_methods_supported")),
        _texts(value.get("code_challenge_methods_supported")),
        value.get("authorization_response_iss_parameter_supported") is True,
        value.get("client_id_metadata_document_supported") is True,
    )


def assumed_issuer(server_url: str) -> AuthorizationServer:
    """A server of 2025-03-26 without metadata: fixed paths at its origin, PKCE by that rule."""
    origin = origin_of(server_url)
    return AuthorizationServer(
        origin,
        f"{origin}/authorize",
        f"{origin}/token",
        f"{origin}/register",
        challenge_methods=("S256",),
    )


def is_web_url(url: str) -> bool:
    """http or https with a host: the only URLs that are ever opened."""
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        return False


def _required(value: JsonObject, key: str) -> str:
    url = _web(value, key)
    if url is None:
        raise OAuthError(f"the authorization server's metadata has no {key}")
    return url


def _web(value: JsonObject, key: str) -> str | None:
    url = value.get(key)
    if url is None:
        return None
    if not isinstance(url, str) or not is_web_url(url):
        raise OAuthError(f"the authorization server's {key} is not an http(s) URL")
    return url


def _texts(value: Json) -> tuple[str, ...] | None:
    if not isinstance(value, list):
        return None
    return tuple(item for item in value if isinstance(item, str))
