"""What the registry says about how to get a token for one server."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol, get_args

from toolyard.configuration.check import Findings, check
from toolyard.configuration.objects import shape
from toolyard.protocol.call import Json

GrantType = Literal["authorization_code", "client_credentials", "jwt_bearer", "enterprise"]


class Server(Protocol):
    """The part of a server's definition that matters here."""

    @property
    def name(self) -> str: ...
    @property
    def url(self) -> str | None: ...
    @property
    def oauth(self) -> Mapping[str, Json]: ...


@dataclass(frozen=True, slots=True)
class ServerOAuth:
    """`oauth` of a server in the registry; every field is optional."""

    grant: GrantType = "authorization_code"
    client_id: str = ""
    client_secret: str = ""
    # A pre-registered client is known to one issuer: its secret goes to no other.
    issuer: str = ""
    scopes: tuple[str, ...] = ()
    private_key: str = ""  # PEM, signs the client's assertions
    algorithm: str = "ES256"
    assertion: str = ""  # the workload's own token (jwt_bearer)
    idp_token_endpoint: str = ""
    idp_client_id: str = ""
    id_token: str = ""

    @property
    def interactive(self) -> bool:
        return self.grant == "authorization_code"


_KEYS = {
    "grant": "grant",
    "clientId": "client_id",
    "clientSecret": "client_secret",
    "issuer": "issuer",
    "privateKey": "private_key",
    "algorithm": "algorithm",
    "assertion": "assertion",
    "idpTokenEndpoint": "idp_token_endpoint",
    "idpClientId": "idp_client_id",
    "idToken": "id_token",
}


def read_oauth(server: Server) -> ServerOAuth:
    """Variables are filled in by now. Raises ConfigError for a value that cannot be meant."""
    findings = Findings(f"server {server.name}")
    stated = check(dict(server.oauth), shape("registry", "/$defs/oauth"), findings, "/oauth")
    if stated.get("grant", "authorization_code") not in get_args(GrantType):
        grants = ", ".join(get_args(GrantType))
        findings.problem("/oauth/grant", f"must be one of {grants}")
    findings.close()
    fields: dict[str, Any] = {_KEYS[key]: value for key, value in stated.items() if key in _KEYS}
    scopes = stated.get("scopes", ())
    fields["scopes"] = tuple(scopes.split() if isinstance(scopes, str) else scopes)
    return ServerOAuth(**fields)
