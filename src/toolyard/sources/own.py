"""What OAuth servers list by themselves: for a caller who has logged in, and for nobody else."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from toolyard.catalog.announcer import Announcer
from toolyard.catalog.kinds import KINDS
from toolyard.catalog.listing import Listing
from toolyard.protocol.call import Caller
from toolyard.sources.upstream import FIRST_WAIT, SETTLE_SECONDS
from toolyard.upstreams.definition import ServerDefinition
from toolyard.upstreams.pool import Pool

MOST_CALLERS = 200
# Seconds between two looks at who has logged in or out meanwhile.
LOOK_AT_LOGINS = 1.0

# Names the login of a caller at a server; None where there is none. Contacts nothing.
FindLogin: TypeAlias = Callable[[ServerDefinition, Caller], str | None]


@dataclass(eq=False, slots=True)
class _Asked:
    """One server, as one login of one caller sees it."""

    server: ServerDefinition
    login: str
    listing: Listing | None = None
    stale: bool = True
    asking: asyncio.Task[None] | None = None
    patience: float = 0.0  # lists wait for the answer until then
    again: float = 0.0  # after a failure, it is not asked before then

    def end(self) -> None:
        if self.asking is not None:
            self.asking.cancel()


@dataclass(eq=False, slots=True)
class _Mine:
    caller: Caller
    asked: dict[str, _Asked] = field(default_factory=dict)
    told: Mapping[str, str] = field(default_factory=dict)  # the logins that sessions know of


class OwnListings:
    """Asks a server when a caller who has a login there wants something."""

    def __init__(self, pool: Pool, login: FindLogin, announcer: Announcer) -> None:
        self._pool = pool
        self._login = login
        self._announcer = announcer
        # Those who were here last come last.
        self._callers: dict[str, _Mine] = {}
        pool.on_change(self._stir)

    async def of(
        self, caller: Caller, servers: Mapping[str, ServerDefinition]
    ) -> Mapping[str, Listing]:
        """What each server lists for the caller, as far as it says so in time."""
        mine = self._mine(caller, servers)
        logins = self._logins(caller, servers)
        for name, one in tuple(mine.asked.items()):
            if logins.get(name) != one.login or servers[name] != one.server:
                mine.asked.pop(name).end()
        for name, login in logins.items():
            one = mine.asked.setdefault(name, _Asked(servers[name], login))
            if one.stale and one.asking is None and _now() >= one.again:
                self._ask(one, caller)
        await _settle(mine.asked.values())
        return {name: one.listing for name, one in mine.asked.items() if one.listing is not None}

    def _mine(self, caller: Caller, servers: Mapping[str, ServerDefinition]) -> _Mine:
        mine = self._callers.pop(caller.id, None)
        if mine is None:
            mine = _Mine(caller, told=self._logins(caller, servers))
            if len(self._callers) >= MOST_CALLERS:
                longest_away = next(iter(self._callers))
                _end(self._callers.pop(longest_away))
        self._callers[caller.id] = mine
        return mine

    def _logins(self, caller: Caller, servers: Mapping[str, ServerDefinition]) -> Mapping[str, str]:
        found = ((name, self._login(server, caller)) for name, server in servers.items())
        return {name: login for name, login in found if login is not None}

    # -- asking ------------------------------------------------------------------------

    def _ask(self, one: _Asked, caller: Caller) -> None:
        # Only for the first answer, or for what it announced: not for one that fails.
        one.patience = _now() + SETTLE_SECONDS if one.again == 0.0 else 0.0
        one.asking = asyncio.get_running_loop().create_task(self._listen_to(one, caller))

    async def _listen_to(self, one: _Asked, caller: Caller) -> None:
        one.stale = False
        before = one.listing
        try:
            listed = await self._pool.listing(one.server.name, caller, anew=before is None)
        finally:
            one.asking = None
        one.listing = replace(listed, error=None)
        one.stale = one.stale or listed.error is not None
        one.again = _now() + FIRST_WAIT if listed.error is not None else 0.0
        if _now() > one.patience and one.listing != (before or Listing(one.server.name)):
            self._changed()  # the list was answered without it

    def _stir(self, name: str) -> None:
        found = [mine.asked[name] for mine in self._callers.values() if name in mine.asked]
        for one in found:
            one.stale = True
        if any(one.listing is not None for one in found):
            self._changed()

    # -- logins ------------------------------------------------------------------------

    def look(self, servers: Mapping[str, ServerDefinition]) -> None:
        """Tell of the callers who have logged in or out since the last look."""
        changed = False
        for mine in self._callers.values():
            logins = self._logins(mine.caller, servers)
            changed = changed or logins != mine.told
            mine.told = logins
        if changed:
            self._changed()

    def _changed(self) -> None:
        """To everybody: a list that is asked for in vain does no harm."""
        self._announcer.changed(KINDS)

    async def close(self) -> None:
        asking = [one.asking for mine in self._callers.values() for one in mine.asked.values()]
        for mine in self._callers.values():
            _end(mine)
        await asyncio.gather(*filter(None, asking), return_exceptions=True)


async def _settle(asked: Iterable[_Asked]) -> None:
    now = _now()
    waiting = {one.asking: one.patience for one in asked if one.asking and one.patience > now}
    if waiting:
        await asyncio.wait(waiting, timeout=max(waiting.values()) - now)


def _end(mine: _Mine) -> None:
    for one in mine.asked.values():
        one.end()


def _now() -> float:
    return asyncio.get_running_loop().time()
