"""What a caller was granted at a server: tokens, and who gave them to whom for what."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace

from toolyard.access.oauth.issuer.clients import OAuthClient
from toolyard.access.oauth.issuer.discovery import Found
from toolyard.access.oauth.issuer.tokens import Tokens
from toolyard.protocol.call import JsonObject

# Renewed this long before it expires: the request must still arrive in time. A token that does
# not live long is used for most of its life all the same.
LEEWAY, LEEWAY_SHARE = 30.0, 0.25

Clock = Callable[[], float]


@dataclass(frozen=True, slots=True)
class Grant:
    """The tokens of one caller for one server. The fields are also its form on disk."""

    access: str
    issuer: str
    token_endpoint: str
    client: OAuthClient
    resource: str
    obtained: float
    expires: float | None = None
    refresh: str = ""
    revocation_endpoint: str = ""
    scopes: tuple[str, ...] = ()
    # Given by hand (`/oauth/connect`): nobody can renew it.
    given: bool = False
    began: float = 0.0  # when the login was; a renewed grant keeps it

    def __repr__(self) -> str:
        return f"Grant(from {self.issuer!r})"

    @classmethod
    def of(
        cls,
        tokens: Tokens,
        discovery: Found,
        client: OAuthClient,
        scopes: tuple[str, ...],
        now: float,
    ) -> Grant:
        return cls(
            access=tokens.access,
            issuer=discovery.issuer.issuer,
            token_endpoint=discovery.issuer.token_endpoint,
            client=client,
            resource=discovery.resource,
            obtained=now,
            began=now,
            expires=None if tokens.expires_in is None else now + tokens.expires_in,
            refresh=tokens.refresh,
            revocation_endpoint=discovery.issuer.revocation_endpoint or "",
            scopes=scopes if tokens.scopes is None else tokens.scopes,
        )

    def renewed(self, tokens: Tokens, now: float) -> Grant:
        return replace(
            self,
            access=tokens.access,
            obtained=now,
            expires=None if tokens.expires_in is None else now + tokens.expires_in,
            refresh=tokens.refresh or self.refresh,
            scopes=self.scopes if tokens.scopes is None else tokens.scopes,
        )

    def expired(self, now: float, leeway: float = LEEWAY) -> bool:
        if self.expires is None:
            return False
        return now >= self.expires - min(leeway, (self.expires - self.obtained) * LEEWAY_SHARE)

    def pack(self) -> JsonObject:
        return {**asdict(self), "client": self.client.pack()}

    @classmethod
    def unpack(cls, record: JsonObject) -> Grant:
        client = OAuthClient.unpack(record["client"])
        return cls(**{**record, "client": client, "scopes": tuple(record["scopes"])})
