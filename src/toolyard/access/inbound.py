"""Who is calling, by any of the credentials that the configuration knows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from toolyard.access.callers import Unauthorized, bearer
from toolyard.access.tokens import StaticTokens
from toolyard.protocol.call import Caller

if TYPE_CHECKING:
    from toolyard.access.jwt_tokens import JwtTokens


class Bearers:
    """Static tokens first, then the issuer's. `hint` is added to every challenge."""

    everybody = None

    def __init__(
        self, static: StaticTokens, jwt_tokens: JwtTokens | None = None, hint: str = ""
    ) -> None:
        self._static = static
        self._jwt_tokens = jwt_tokens
        self._hint = hint

    async def caller(self, authorization: Sequence[str]) -> Caller:
        try:
            return await self._caller(bearer(authorization))
        except Unauthorized as refusal:
            raise Unauthorized(self._hinted(refusal.challenge), refusal.status) from None

    async def _caller(self, token: str) -> Caller:
        caller = self._static.caller(token)
        if caller is not None:
            return caller
        if self._jwt_tokens is None or token.count(".") != 2:
            raise Unauthorized
        return await self._jwt_tokens.caller(token)

    def _hinted(self, challenge: str) -> str:
        if not self._hint:
            return challenge
        return f"{challenge}{' ' if challenge == 'Bearer' else ', '}{self._hint}"
