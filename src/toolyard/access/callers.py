"""Who is calling, from the Authorization header. A credential that is not known is refused."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from toolyard.http.headers import Header
from toolyard.protocol.call import Caller


class Unauthorized(Exception):
    """401, and what the client must do about it."""

    def __init__(self, challenge: str = 'Bearer error="invalid_token"', status: int = 401) -> None:
        super().__init__(challenge)
        self.challenge = challenge
        self.status = status

    @property
    def header(self) -> Header:
        return b"www-authenticate", self.challenge.encode("latin-1", "replace")


class Authenticator(Protocol):
    """Tells who is calling."""

    @property
    def everybody(self) -> Caller | None:
        """Who every caller is, where nobody is asked for credentials."""

    async def caller(self, authorization: Sequence[str]) -> Caller:
        """The caller that these Authorization headers stand for. Raises Unauthorized."""


class Anyone:
    """No authentication: every caller is the local one. For loopback only."""

    everybody = Caller()

    async def caller(self, authorization: Sequence[str]) -> Caller:
        return self.everybody


def bearer(authorization: Sequence[str]) -> str:
    """The one bearer token in the headers."""
    if not authorization:
        raise Unauthorized("Bearer")
    scheme, _, token = authorization[0].partition(" ")
    if len(authorization) != 1 or scheme.lower() != "bearer" or not token.strip():
        raise Unauthorized
    return token.strip()
