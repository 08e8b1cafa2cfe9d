"""Get a grant, in whichever way the registry says: a login, or without any person."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from toolyard.access.oauth.browser import Browser
from toolyard.access.oauth.config import GrantType, ServerOAuth
from toolyard.access.oauth.errors import OAuthError
from toolyard.access.oauth.grant import Grant
from toolyard.access.oauth.issuer import clients
from toolyard.access.oauth.issuer.clients import OAuthClient
from toolyard.access.oauth.issuer.discovery import Found
from toolyard.access.oauth.issuer.tokens import exchange, request_tokens
from toolyard.access.oauth.login import Login
from toolyard.access.oauth.vault import Vault
from toolyard.http.fetching.fetch import GuardedFetch
from toolyard.store.interface import StoreError

_JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer"
_TOKEN_EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"
_ID_TOKEN = "urn:ietf:params:oauth:token-type:id_token"
_ID_JAG = "urn:ietf:params:oauth:token-type:id-jag"

Form: TypeAlias = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Granting:
    """What is needed to get grants at one server."""

    fetch: GuardedFetch
    vault: Vault
    config: ServerOAuth
    document_url: str = ""
    clock: Callable[[], float] = field(default=time.time)

    async def log_in(self, discovery: Found, scopes: tuple[str, ...], browser: Browser) -> Grant:
        """The authorization code grant. Raises OAuthError."""
        try:
            client, redirect_uri = await self._client(discovery, browser)
            login = Login(discovery, client, redirect_uri, scopes)
            answer = await browser.visit(login.url)
            form = login.form(login.code_in(answer))
            return await self._granted(discovery, client, form, scopes)
        finally:
            await browser.close()

    async def without_a_person(self, discovery: Found, scopes: tuple[str, ...]) -> Grant:
        """The grants of machines. Raises OAuthError."""
        client = clients.preregistered(self.config, discovery.issuer)
        if client is None:
            client = OAuthClient("", discovery.issuer.issuer)
        form = await _FORMS[self.config.grant](self, discovery, client)
        if scopes:
            form["scope"] = " ".join(scopes)
        return await self._granted(discovery, client, form, scopes)

    async def renew(self, grant: Grant) -> Grant:
        """By its refresh token, at the issuer that gave it. Raises OAuthError."""
        form = {
            "grant_type": "refresh_token",
            "refresh_token": grant.refresh,
            "resource": grant.resource,
        }
        client = grant.client
        if client.method == "private_key_jwt":
            client = replace(client, key=self.config.private_key)
        tokens = await request_tokens(self.fetch, grant.token_endpoint, client, form)
        return grant.renewed(tokens, self.clock())

    async def _granted(
        self, discovery: Found, client: OAuthClient, form: Form, scopes: tuple[str, ...]
    ) -> Grant:
        tokens = await request_tokens(self.fetch, discovery.issuer.token_endpoint, client, form)
        return Grant.of(tokens, discovery, client, scopes, self.clock())

    async def _client(self, discovery: Found, browser: Browser) -> tuple[OAuthClient, str]:
        """The client to log in with, and where it may be called back. Kept by issuer."""
        issuer = discovery.issuer
        fixed_client = clients.preregistered(self.config, issuer) or clients.by_document(
            issuer, self.document_url
        )
        if fixed_client is not None:
            return fixed_client, await browser.ready()
        key = f"client {issuer.issuer}"
        try:
            await self.vault.look(key)
        except StoreError as error:
            raise OAuthError(f"logins are in the store: {error}") from None
        record = self.vault.get(key)
        client = OAuthClient.unpack(record) if record is not None else None
        redirect_uri = await browser.ready(client.redirect_uri if client else "")
        if client is None or client.redirect_uri != redirect_uri:
            client = await clients.register(self.fetch, issuer, redirect_uri)
            self.vault.put(key, client.pack())
        return client, redirect_uri


async def _client_credentials(
    grants: Granting, discovery: Found, client: OAuthClient
) -> dict[str, str]:
    return {"grant_type": "client_credentials", "resource": discovery.resource}


async def _jwt_bearer(grants: Granting, discovery: Found, client: OAuthClient) -> dict[str, str]:
    """The workload's own token stands for it."""
    if not grants.config.assertion:
        raise OAuthError("the registry gives no assertion for this server")
    return {
        "grant_type": _JWT_BEARER,
        "assertion": grants.config.assertion,
        "resource": discovery.resource,
    }


async def _enterprise(grants: Granting, discovery: Found, client: OAuthClient) -> dict[str, str]:
    """The company's identity provider vouches for its user: an ID token becomes an ID-JAG."""
    config = grants.config
    form = {
        "grant_type": _TOKEN_EXCHANGE,
        "requested_token_type": _ID_JAG,
        "audience": discovery.issuer.issuer,
        "resource": discovery.resource,
        "subject_token": config.id_token,
        "subject_token_type": _ID_TOKEN,
    }
    at_provider = OAuthClient(config.idp_client_id, "")
    endpoint = config.idp_token_endpoint
    assertion = await exchange(grants.fetch, endpoint, at_provider, form, _ID_JAG)
    return {"grant_type": _JWT_BEARER, "assertion": assertion, "resource": discovery.resource}


_FORMS: Mapping[GrantType, Callable[[Granting, Found, OAuthClient], Awaitable[dict[str, str]]]] = {
    "client_credentials": _client_credentials,
    "jwt_bearer": _jwt_bearer,
    "enterprise": _enterprise,
}
