"""The credentials of one caller at one upstream. Does not know how a token is got."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from toolyard.http.challenge import Challenge
from toolyard.protocol.call import Caller
from toolyard.upstreams.definition import ServerDefinition

# The headers that authorize this caller at this upstream.
Authorize: TypeAlias = Callable[[ServerDefinition, Caller], Awaitable[Mapping[str, str]]]
# True when there are other credentials now, and the request is worth another try.
OnChallenge: TypeAlias = Callable[[ServerDefinition, Caller, Challenge], Awaitable[bool]]


@dataclass(frozen=True, slots=True)
class Credentials:
    """What is sent to an upstream on behalf of one caller, and renewed when it is refused."""

    definition: ServerDefinition
    caller: Caller
    authorize: Authorize | None = None
    on_challenge: OnChallenge | None = None

    @property
    def needed(self) -> bool:
        return self.authorize is not None and self.definition.auth != "none"

    async def headers(self) -> Mapping[str, str]:
        if self.authorize is None or not self.needed:
            return {}
        return await self.authorize(self.definition, self.caller)

    async def renewed(self, challenge: Challenge) -> bool:
        if self.on_challenge is None or self.definition.auth == "none":
            return False
        return await self.on_challenge(self.definition, self.caller, challenge)
