"""Access tokens that an issuer signed for us: signature, issuer, audience, time and scopes."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from toolyard.access.callers import Unauthorized
from toolyard.access.keys import KeySet, NoKeys
from toolyard.protocol.call import Caller, Json

if TYPE_CHECKING:
    from jwt import PyJWK

# Asymmetric only: with any other the issuer's public key could be used to sign.
ALGORITHMS = (
    *("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
    *("ES256", "ES384", "ES512", "EdDSA"),
)
MAX_TOKEN = 16 * 1024
LEEWAY = 30
MAX_KNOWN = 1024


@dataclass(frozen=True, slots=True)
class Expected:
    """What a token has to say to be one for us."""

    issuer: str
    audience: str
    scopes: tuple[str, ...] = ()


class JwtTokens:
    def __init__(self, expected: Expected, keys: KeySet) -> None:
        self._expected = expected
        self._keys = keys
        # Verified tokens and when they end: the same token comes with every request.
        self._known: OrderedDict[str, tuple[float, Caller]] = OrderedDict()

    async def caller(self, token: str) -> Caller:
        """Raises Unauthorized."""
        known = self._known.get(token)
        if known is not None and time.time() < known[0]:
            return known[1]
        expires, caller = await self.verified(token)
        self._known[token] = (expires, caller)
        if len(self._known) > MAX_KNOWN:
            self._known.popitem(last=False)
        return caller

    async def verified(self, token: str) -> tuple[float, Caller]:
        if len(token) > MAX_TOKEN:
            raise Unauthorized
        claims = await self._claims(token)
        missing = set(self._expected.scopes) - scopes_of(claims)
        if missing:
            raise Unauthorized(_insufficient(self._expected.scopes), status=403)
        subject = claims.get("sub") or claims.get("client_id") or claims.get("azp")
        if not isinstance(subject, str) or not subject:
            raise Unauthorized
        caller = Caller(f"{self._expected.issuer}|{subject}", subject, claims)
        return int(claims["exp"]), caller

    async def _claims(self, token: str) -> dict[str, Any]:
        """What a token says that the issuer signed, for us, and for now."""
        # 50 ms, and only servers that accept tokens of an issuer need it.
        import jwt  # noqa: PLC0415

        try:
            key = await self._key(jwt.get_unverified_header(token))
            return jwt.decode(
                token,
                key,
                algorithms=[key.algorithm_name],
                audience=self._expected.audience,
                issuer=self._expected.issuer,
                leeway=LEEWAY,
                options={"require": ["exp", "aud", "iss"]},
            )
        except NoKeys:
            raise Unauthorized("Bearer", status=503) from None
        except (jwt.PyJWTError, ValueError, OverflowError):
            raise Unauthorized from None

    async def _key(self, header: Mapping[str, Any]) -> PyJWK:
        """The key that the header names, for the algorithm that the key is for."""
        kid, algorithm = header.get("kid"), header.get("alg")
        if algorithm not in ALGORITHMS or "crit" in header:
            raise Unauthorized
        key = await self._keys.find(kid)
        if key is None or key.algorithm_name != algorithm:
            raise Unauthorized
        return key


def scopes_of(claims: Mapping[str, Json]) -> frozenset[str]:
    """`scope` as RFC 9068 has it, `scp` as some issuers do."""
    value = claims.get("scope", claims.get("scp"))
    if isinstance(value, str):
        return frozenset(value.split())
    if isinstance(value, list):
        return frozenset(item for item in value if isinstance(item, str))
    return frozenset()


def _insufficient(scopes: tuple[str, ...]) -> str:
    return f'Bearer error="insufficient_scope", scope="{" ".join(scopes)}"'
