"""What servers list to some clients and not to all.

A cohort is all clients that are listed the same. OAuth servers list to a caller who has logged
in, and to nobody else: where there are such servers, each caller is a cohort of its own. Others
may list more to clients that can be asked something, or that speak another era: those of one era
that can do the same are a cohort.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeAlias

from toolyard.catalog.announcer import Announcer
from toolyard.catalog.listing import Listing
from toolyard.protocol.call import Caller
from toolyard.protocol.kinds import KINDS, Kind
from toolyard.sources.upstream import FIRST_WAIT, SETTLE_SECONDS
from toolyard.upstreams.connections import Downstream
from toolyard.upstreams.definition import ServerDefinition
from toolyard.upstreams.pool import Pool

MOST_COHORTS = 200
# Seconds between two looks at who has logged in or out meanwhile.
LOOK_AT_LOGINS = 1.0

# Names the login of a caller at a server; None where there is none. Contacts nothing.
FindLogin: TypeAlias = Callable[[ServerDefinition, Caller], str | None]
# The login of whoever needs none.
EVERYBODY = ""


class Cohort(NamedTuple):
    """Names the clients that are listed the same."""

    caller: str  # "" where nobody needs a login
    modern: bool
    client: str  # what they can do


@dataclass(eq=False, slots=True)
class _Asked:
    """One server, as one cohort sees it."""

    server: ServerDefinition
    login: str
    listing: Listing | None = None
    stale: bool = True
    asking: asyncio.Task[None] | None = None
    patience: float = 0.0  # lists wait for the answer until then
    again: float = 0.0  # after a failure, it is not asked before then
    told: bool = False  # clients are told what has changed, also if lists have waited for it

    def end(self) -> None:
        if self.asking is not None:
            self.asking.cancel()


@dataclass(eq=False, slots=True)
class _Lists:
    """What servers list to one cohort."""

    client: Downstream  # whoever was here last
    asked: dict[str, _Asked] = field(default_factory=dict)
    told: Mapping[str, str] = field(default_factory=dict)  # the logins that sessions know of


class CohortListings:
    """Asks a server when a client comes to which it may list something else."""

    def __init__(self, pool: Pool, login: FindLogin, announcer: Announcer) -> None:
        self._pool = pool
        self._login = login
        self._announcer = announcer
        # Those who were here last come last.
        self._cohorts: dict[Cohort, _Lists] = {}
        pool.on_change(self._stir)

    async def of(
        self,
        client: Downstream,
        shared: Iterable[str],
        by_login: Mapping[str, ServerDefinition],
    ) -> Mapping[str, Listing]:
        """What each server lists for the client, as far as it says so in time."""
        asked = self.begin(client, shared, by_login)
        await _settle(asked.values())
        return {name: one.listing for name, one in asked.items() if one.listing is not None}

    def begin(
        self,
        client: Downstream,
        shared: Iterable[str],
        by_login: Mapping[str, ServerDefinition],
    ) -> Mapping[str, _Asked]:
        """Ask those that have not said it yet, or may say something else."""
        lists = self._lists_of(client, by_login)
        logins = self._logins(client.caller, by_login)
        wanted = {name: (by_login[name], login) for name, login in logins.items()}
        for name in shared:
            definition = self._pool.definition(name)
            if definition is not None and self._pool.lists_apart(name, client):
                wanted[name] = (definition, EVERYBODY)
        for name, one in tuple(lists.asked.items()):
            if wanted.get(name) != (one.server, one.login):
                lists.asked.pop(name).end()
        for name, (server, login) in wanted.items():
            one = lists.asked.get(name) or self._first(lists, server, login)
            if one.stale and one.asking is None and _now() >= one.again:
                self._ask(one, client)
        return lists.asked

    def _lists_of(self, client: Downstream, by_login: Mapping[str, ServerDefinition]) -> _Lists:
        key = cohort_of(client, by_login=bool(by_login))
        lists = self._cohorts.pop(key, None)
        if lists is None:
            lists = _Lists(client, told=self._logins(client.caller, by_login))
            if len(self._cohorts) >= MOST_COHORTS:
                longest_away = next(iter(self._cohorts))
                _end(self._cohorts.pop(longest_away))
        lists.client = client
        self._cohorts[key] = lists
        return lists

    def _first(self, lists: _Lists, server: ServerDefinition, login: str) -> _Asked:
        one = lists.asked[server.name] = _Asked(server, login)
        if login == EVERYBODY:
            # What was kept is believed until the server is used.
            one.listing = self._pool.known_listing(server.name, lists.client)
            one.stale = one.listing is None or self._pool.doubted(server.name, lists.client)
        return one

    def _logins(self, caller: Caller, servers: Mapping[str, ServerDefinition]) -> Mapping[str, str]:
        found = ((name, self._login(server, caller)) for name, server in servers.items())
        return {name: login for name, login in found if login is not None}

    # -- asking ------------------------------------------------------------------------

    def _ask(self, one: _Asked, client: Downstream) -> None:
        # Only for the first answer, or for what it announced: not for one that fails.
        one.patience = _now() + SETTLE_SECONDS if one.again == 0.0 else 0.0
        one.asking = asyncio.get_running_loop().create_task(self._listen_to(one, client))

    async def _listen_to(self, one: _Asked, client: Downstream) -> None:
        one.stale = False
        before = one.listing
        anew = before is None and one.login != EVERYBODY
        try:
            listed = await self._pool.listing(one.server.name, client, anew=anew)
        finally:
            one.asking = None
        failed = listed.error is not None
        if not failed or one.login != EVERYBODY or before is not None:
            one.listing = replace(listed, error=None)
        one.stale = one.stale or failed
        one.again = _now() + FIRST_WAIT if failed else 0.0
        changed = _differences(one.listing, before or Listing(one.server.name))
        if changed and (one.told or _now() > one.patience):
            self._changed(client, changed)  # the list was answered without it
        one.told = False

    def _stir(self, name: str) -> None:
        """It may list something else: that is looked at at once where it can be."""
        for lists in self._cohorts.values():
            one = lists.asked.get(name)
            if one is None:
                continue
            one.stale = True
            if one.listing is None or one.asking is not None:
                continue
            if one.login != EVERYBODY:
                self._changed(lists.client, KINDS)
            elif self._pool.is_up(name, lists.client):
                one.told, one.again = True, 0.0
                self._ask(one, lists.client)

    # -- logins ------------------------------------------------------------------------

    def look(self, servers: Mapping[str, ServerDefinition]) -> None:
        """Tell of the callers who have logged in or out since the last look."""
        changed = False
        for lists in self._cohorts.values():
            logins = self._logins(lists.client.caller, servers)
            changed = changed or logins != lists.told
            lists.told = logins
        if changed:
            # To everybody: a list that is asked for in vain does no harm.
            self._announcer.changed(KINDS)

    def _changed(self, client: Downstream, kinds: Iterable[Kind]) -> None:
        self._announcer.changed(kinds, client.guise)

    async def close(self) -> None:
        asking = [one.asking for lists in self._cohorts.values() for one in lists.asked.values()]
        for lists in self._cohorts.values():
            _end(lists)
        await asyncio.gather(*filter(None, asking), return_exceptions=True)


def cohort_of(client: Downstream, *, by_login: bool) -> Cohort:
    return Cohort(client.caller.id if by_login else "", client.guise.modern, client.guise.key)


def _differences(listing: Listing | None, before: Listing) -> frozenset[Kind]:
    if listing is None:
        return frozenset()
    return frozenset(kind for kind in KINDS if getattr(listing, kind) != getattr(before, kind))


async def _settle(asked: Iterable[_Asked]) -> None:
    now = _now()
    waiting = {one.asking: one.patience for one in asked if one.asking and one.patience > now}
    if waiting:
        await asyncio.wait(waiting, timeout=max(waiting.values()) - now)


def _end(lists: _Lists) -> None:
    for one in lists.asked.values():
        one.end()


def _now() -> float:
    return asyncio.get_running_loop().time()
