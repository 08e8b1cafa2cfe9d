"""What servers list to some clients and not to all.

A cohort is all clients that are listed the same. OAuth servers list to a caller who has logged
in, and to nobody else: where there are such servers, each caller is a cohort of its own. Others
may list more to clients that can be asked something, or that speak another era: those of one era
that can do the same are a cohort.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Protocol

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

# The login of whoever needs none.
EVERYBODY = ""


class KnownLogins(Protocol):
    def login(self, server: ServerDefinition, caller: Caller) -> str | None:
        """Names the login of a caller at a server; None where there is none. Contacts nothing."""

    async def look(self, servers: Iterable[ServerDefinition], caller: Caller) -> None:
        """Know the caller's logins, wherever they were made."""


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
    question: asyncio.Task[None] | None = None
    patience: float = 0.0  # lists wait for the answer until then
    again: float = 0.0  # after a failure, it is not asked before then
    announce: bool = False  # clients are told what has changed, also if lists have waited for it

    def end(self) -> None:
        if self.question is not None:
            self.question.cancel()


@dataclass(eq=False, slots=True)
class _Lists:
    """What servers list to one cohort."""

    client: Downstream  # whoever was here last
    views: dict[str, _Asked] = field(default_factory=dict)
    logins: Mapping[str, str] = field(default_factory=dict)  # those that sessions know of


class CohortListings:
    """Asks a server when a client arrives to which it may list something else."""

    def __init__(self, pool: Pool, logins: KnownLogins, announcer: Announcer) -> None:
        self._pool = pool
        self._known_logins = logins
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
        if by_login:
            await self._known_logins.look(by_login.values(), client.caller)
        views = self.begin(client, shared, by_login)
        await _settle(views.values())
        return {name: view.listing for name, view in views.items() if view.listing is not None}

    def begin(
        self,
        client: Downstream,
        shared: Iterable[str],
        by_login: Mapping[str, ServerDefinition],
    ) -> Mapping[str, _Asked]:
        """Ask those that have not said it yet, or may say something else."""
        lists = self._lists_of(client, by_login)
        logins = self._logins(client.caller, by_login)
        servers_due = {name: (by_login[name], login) for name, login in logins.items()}
        for name in shared:
            definition = self._pool.definition(name)
            if definition is not None and self._pool.lists_apart(name, client):
                servers_due[name] = (definition, EVERYBODY)
        for name, view in tuple(lists.views.items()):
            if servers_due.get(name) != (view.server, view.login):
                lists.views.pop(name).end()
        for name, (server, login) in servers_due.items():
            view = lists.views.get(name) or self._first(lists, server, login)
            if view.stale and view.question is None and _now() >= view.again:
                self._ask(view, client)
        return lists.views

    def _lists_of(self, client: Downstream, by_login: Mapping[str, ServerDefinition]) -> _Lists:
        key = cohort_of(client, by_login=bool(by_login))
        lists = self._cohorts.pop(key, None)
        if lists is None:
            lists = _Lists(client, logins=self._logins(client.caller, by_login))
            if len(self._cohorts) >= MOST_COHORTS:
                longest_away = next(iter(self._cohorts))
                _end(self._cohorts.pop(longest_away))
        lists.client = client
        self._cohorts[key] = lists
        return lists

    def _first(self, lists: _Lists, server: ServerDefinition, login: str) -> _Asked:
        view = lists.views[server.name] = _Asked(server, login)
        if login == EVERYBODY:
            # What was kept is believed until the server is used.
            view.listing = self._pool.known_listing(server.name, lists.client)
            view.stale = view.listing is None or self._pool.doubted(server.name, lists.client)
        return view

    def _logins(self, caller: Caller, servers: Mapping[str, ServerDefinition]) -> Mapping[str, str]:
        logins = (
            (name, self._known_logins.login(server, caller)) for name, server in servers.items()
        )
        return {name: login for name, login in logins if login is not None}

    # -- asking ------------------------------------------------------------------------

    def _ask(self, view: _Asked, client: Downstream) -> None:
        # Only for the first answer, or for what it announced: not for one that fails.
        view.patience = _now() + SETTLE_SECONDS if view.again == 0.0 else 0.0
        view.question = asyncio.get_running_loop().create_task(self._listen_to(view, client))

    async def _listen_to(self, view: _Asked, client: Downstream) -> None:
        view.stale = False
        before = view.listing
        anew = before is None and view.login != EVERYBODY
        try:
            answer = await self._pool.listing(view.server.name, client, anew=anew)
        finally:
            view.question = None
        is_failure = answer.error is not None
        if not is_failure or view.login != EVERYBODY or before is not None:
            view.listing = replace(answer, error=None)
        view.stale = view.stale or is_failure
        view.again = _now() + FIRST_WAIT if is_failure else 0.0
        differences = _differences(view.listing, before or Listing(view.server.name))
        if differences and (view.announce or _now() > view.patience):
            self._changed(client, differences)  # the list was answered without it
        view.announce = False

    def _stir(self, name: str) -> None:
        """It may list something else: that is looked at at once where it can be."""
        for lists in self._cohorts.values():
            view = lists.views.get(name)
            if view is None:
                continue
            view.stale = True
            if view.listing is None or view.question is not None:
                continue
            if view.login != EVERYBODY:
                self._changed(lists.client, KINDS)
            elif self._pool.is_up(name, lists.client):
                view.announce, view.again = True, 0.0
                self._ask(view, lists.client)

    # -- logins ------------------------------------------------------------------------

    def look(self, servers: Mapping[str, ServerDefinition]) -> None:
        """Tell of the callers who have logged in or out since the last look."""
        has_changes = False
        for lists in self._cohorts.values():
            logins = self._logins(lists.client.caller, servers)
            has_changes = has_changes or logins != lists.logins
            lists.logins = logins
        if has_changes:
            # To everybody: a client that asks for its list once too often does no harm.
            self._announcer.changed(KINDS)

    def _changed(self, client: Downstream, kinds: Iterable[Kind]) -> None:
        self._announcer.changed(kinds, client.guise)

    async def close(self) -> None:
        questions = [
            view.question for lists in self._cohorts.values() for view in lists.views.values()
        ]
        for lists in self._cohorts.values():
            _end(lists)
        await asyncio.gather(*filter(None, questions), return_exceptions=True)


def cohort_of(client: Downstream, *, by_login: bool) -> Cohort:
    return Cohort(client.caller.id if by_login else "", client.guise.modern, client.guise.key)


def _differences(listing: Listing | None, before: Listing) -> frozenset[Kind]:
    if listing is None:
        return frozenset()
    return frozenset(kind for kind in KINDS if getattr(listing, kind) != getattr(before, kind))


async def _settle(views: Iterable[_Asked]) -> None:
    now = _now()
    deadlines = {
        view.question: view.patience for view in views if view.question and view.patience > now
    }
    if deadlines:
        await asyncio.wait(deadlines, timeout=max(deadlines.values()) - now)


def _end(lists: _Lists) -> None:
    for view in lists.views.values():
        view.end()


def _now() -> float:
    return asyncio.get_running_loop().time()
