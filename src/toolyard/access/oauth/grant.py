"""What a caller was granted at a server: tokens, and who gave them to whom for what."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace

from toolyard.access.oauth.clients import OAuthClient
from toolyard.access.oauth.discovery import Found
from toolyard.access.oauth.tokens import Tokens
from toolyard.protocol.call import JsonObject

# Renewed this long before it expires: the request must still arrive in time. A token that does
# not live long is used for most of its life all the same.
LEEWAY, LEEWAY_SHARE = 30.0, 0.25

Clock = Callable[[], float]


@dataclass(frozen=True, slots=True)
class Grant:
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
    # Given by hand (`/oauth/connect`): there is nobody to renew it with.
    given: bool = False
    began: float = 0.0  # when the login was; a renewed grant is of the same

    def __repr__(self) -> str:
        return f"Grant(from {self.issuer!r})"

    @classmethod
    def of(
        cls, tokens: Tokens, found: Found, client: OAuthClient, asked: tuple[str, ...], now: float
    ) -> Grant:
        return cls(
            access=tokens.access,
            issuer=found.issuer.issuer,
            token_endpoint=found.issuer.token_endpoint,
            client=client,
            resource=found.resource,
            obtained=now,
            began=now,
            expires=None if tokens.expires_in is None else now + tokens.expires_in,
            refresh=tokens.refresh,
            revocation_endpoint=found.issuer.revocation_endpoint or "",
            scopes=asked if tokens.scopes is None else tokens.scopes,
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
    def unpack(cls, packed: JsonObject) -> Grant:
        client = OAuthClient.unpack(packed["client"])
        return cls(**{**packed, "client": client, "scopes": tuple(packed["scopes"])})
