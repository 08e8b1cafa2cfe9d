"""Requests to a token endpoint, and what comes back."""

from __future__ import annotations

import base64
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

from toolyard.access.oauth.errors import OAuthError, OAuthRefusal
from toolyard.access.oauth.issuer.clients import OAuthClient
from toolyard.http.fetching.fetch import FetchError, GuardedFetch

_ASSERTION_TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
_ASSERTION_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Tokens:
    """What a token endpoint gave. Never shown."""

    access: str
    expires_in: float | None = None
    refresh: str = ""
    scopes: tuple[str, ...] | None = None

    def __repr__(self) -> str:
        return "Tokens(...)"


async def request_tokens(
    fetch: GuardedFetch, endpoint: str, client: OAuthClient, form: Mapping[str, str]
) -> Tokens:
    """Raises OAuthRefusal for an OAuth error, OAuthError otherwise."""
    fields = await post_form(fetch, endpoint, client, form)
    access, kind = fields.get("access_token"), fields.get("token_type")
    if not isinstance(access, str) or not _is_token(access):
        raise OAuthError("the token endpoint gave no usable access token")
    if not isinstance(kind, str) or kind.lower() != "bearer":
        raise OAuthError("the token endpoint gave a kind of token that we cannot use")
    expires, refresh, scope = (fields.get(key) for key in ("expires_in", "refresh_token", "scope"))
    return Tokens(
        access,
        float(expires) if isinstance(expires, int | float) and expires > 0 else None,
        refresh if isinstance(refresh, str) else "",
        tuple(scope.split()) if isinstance(scope, str) else None,
    )


async def exchange(
    fetch: GuardedFetch,
    endpoint: str,
    client: OAuthClient,
    form: Mapping[str, str],
    token_type: str,
) -> str:
    """RFC 8693: one token for another of the kind `issued`, which is not an access token."""
    fields = await post_form(fetch, endpoint, client, form)
    token = fields.get("access_token")
    if fields.get("issued_token_type") != token_type or not isinstance(token, str):
        raise OAuthError("the identity provider gave another kind of token than asked for")
    return token


async def revoke(
    fetch: GuardedFetch, endpoint: str, client: OAuthClient, token: str, hint: str
) -> None:
    """RFC 7009. Raises OAuthError."""
    await post_form(fetch, endpoint, client, {"token": token, "token_type_hint": hint})


async def post_form(
    fetch: GuardedFetch, endpoint: str, client: OAuthClient, form: Mapping[str, str]
) -> dict[str, Any]:
    proof, headers = prove(client)
    body = urlencode({**form, **proof}).encode()
    headers["Content-Type"] = "application/x-www-form-urlencoded"
    headers["Accept"] = "application/json"
    try:
        answer = await fetch("POST", endpoint, headers, body)
    except FetchError as error:
        raise OAuthError(str(error)) from None
    fields = answer.object
    if answer.status == 200:
        return fields
    code = fields.get("error")
    if not isinstance(code, str):
        raise OAuthError(f"the token endpoint answered HTTP {answer.status}")
    raise OAuthRefusal(code, str(fields.get("error_description", "")))


def prove(client: OAuthClient) -> tuple[dict[str, str], dict[str, str]]:
    """The fields and headers by which the client proves who it is."""
    if client.method == "client_secret_basic":
        pair = f"{quote(client.id, safe='')}:{quote(client.secret, safe='')}"
        return {}, {"Authorization": f"Basic {base64.b64encode(pair.encode()).decode()}"}
    if client.method == "client_secret_post":
        return {"client_id": client.id, "client_secret": client.secret}, {}
    if client.method == "private_key_jwt":
        proof = {"client_assertion_type": _ASSERTION_TYPE, "client_assertion": assertion(client)}
        return {"client_id": client.id, **proof}, {}
    return {"client_id": client.id}, {}


def assertion(client: OAuthClient) -> str:
    """RFC 7523: signed by the client, good for one minute, for this issuer only."""
    # Only clients with a key of their own sign anything.
    import jwt  # noqa: PLC0415

    now = int(time.time())
    claims = {
        "iss": client.id,
        "sub": client.id,
        "aud": client.issuer,
        "iat": now,
        "exp": now + _ASSERTION_SECONDS,
        "jti": secrets.token_urlsafe(16),
    }
    try:
        return jwt.encode(claims, client.key, algorithm=client.algorithm)
    except (ValueError, TypeError, NotImplementedError, jwt.PyJWTError):
        raise OAuthError("the client's private key cannot be used") from None


def _is_token(text: str) -> bool:
    """Visible ASCII: it travels in a header."""
    return bool(text) and all("!" <= char <= "~" for char in text)
