"""What it costs to find out who is calling: a static token, a signed token, one seen before.

PYTHONPATH=src:. python bench/auth.py
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from jwt import PyJWK

from toolyard.access.inbound import Bearers
from toolyard.access.jwt_tokens import Expected, JwtTokens
from toolyard.access.keys import KeySet
from toolyard.access.tokens import StaticToken, StaticTokens, hash_of, new_token
from toolyard.http.fetching.fetch import GuardedFetch

ISSUER, AUDIENCE = "https://as.example", "https://tools.example/mcp"
ROUNDS = 2000
CLAIMS = {"iss": ISSUER, "aud": AUDIENCE, "sub": "ada", "exp": int(time.time()) + 3600}


class Known(KeySet):
    """A key set that has been fetched."""

    def __init__(self, key: PyJWK) -> None:
        super().__init__(ISSUER, GuardedFetch())
        self._key = key

    async def find(self, kid: str | None) -> PyJWK | None:
        return self._key


async def timed(name: str, work: Callable[[], Awaitable[object]]) -> None:
    best = float("inf")
    for _ in range(7):
        started = time.perf_counter()
        for _ in range(ROUNDS):
            await work()
        best = min(best, (time.perf_counter() - started) / ROUNDS)
    print(f"{name:32} {best * 1e6:7.2f} µs")


async def main() -> None:
    token = new_token()
    mine = Bearers(StaticTokens([StaticToken("ci", hash_of(token))]))
    await timed("static token", lambda: mine.caller([f"Bearer {token}"]))
    rsa_key = rsa.generate_private_key(65537, 2048)
    ec_key = ec.generate_private_key(ec.SECP256R1())
    rsa_jwk = jwt.algorithms.RSAAlgorithm.to_jwk(rsa_key.public_key(), as_dict=True)
    ec_jwk = jwt.algorithms.ECAlgorithm.to_jwk(ec_key.public_key(), as_dict=True)
    await timed_jwt("RS256", jwt.encode(CLAIMS, rsa_key, "RS256", {"kid": "k"}), rsa_jwk)
    await timed_jwt("ES256", jwt.encode(CLAIMS, ec_key, "ES256", {"kid": "k"}), ec_jwk)


async def timed_jwt(algorithm: str, token: str, public: dict[str, Any]) -> None:
    static = StaticTokens([StaticToken(str(i), hash_of(new_token())) for i in range(100)])
    keys = Known(PyJWK.from_dict({**public, "alg": algorithm}))
    tokens = JwtTokens(Expected(ISSUER, AUDIENCE), keys)
    gate = Bearers(static, tokens)
    await timed(f"{algorithm}, verified each time", lambda: tokens.verified(token))
    await timed(f"{algorithm}, seen before", lambda: gate.caller([f"Bearer {token}"]))


if __name__ == "__main__":
    asyncio.run(main())
