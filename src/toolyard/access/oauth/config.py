"""What the registry says about how to get a token for one server."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Protocol, get_args

from toolyard.errors import ConfigError
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
    """Raises ConfigError for a value that makes no sense."""
    values: dict[str, object] = {}
    for key, value in server.oauth.items():
        if key in _KEYS:
            values[_KEYS[key]] = _text(server, key, value)
    scopes = server.oauth.get("scopes", ())
    values["scopes"] = tuple(scopes.split() if isinstance(scopes, str) else scopes)
    grant = values.get("grant", "authorization_code")
    if grant not in get_args(GrantType):
        raise _wrong(server, "grant", f"expected one of {', '.join(get_args(GrantType))}")
    return ServerOAuth(**values)  # type: ignore[arg-type]


def _text(server: Server, key: str, value: Json) -> str:
    if not isinstance(value, str):
        raise _wrong(server, key, "expected text")
    return value


def _wrong(server: Server, key: str, why: str) -> ConfigError:
    return ConfigError.at(f"server {server.name}", why, f"/oauth/{key}")
