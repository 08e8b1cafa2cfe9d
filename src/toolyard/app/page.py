"""The page over what a plan serves: its token, its ears, and its window on the program."""

from __future__ import annotations

import asyncio
import os
import secrets
import shutil
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from toolyard import __version__
from toolyard.access.callers import Authenticator
from toolyard.access.inbound import Bearers
from toolyard.access.tokens import StaticToken, StaticTokens, hash_of
from toolyard.app.build import App, Plan, Taps, registry_paths
from toolyard.app.lineage import Lineage
from toolyard.app.logins import PageLogins
from toolyard.app.other_gateway import Other, OtherFile
from toolyard.app.registry_files import registry_files
from toolyard.catalog.keeper import Keeper
from toolyard.catalog.snapshot import Catalog
from toolyard.protocol.call import (
    Call,
    Caller,
    Channel,
    Handler,
    JsonObject,
    Result,
    Target,
)
from toolyard.protocol.client import ABLE
from toolyard.protocol.guise import guise_of
from toolyard.protocol.revisions import LATEST
from toolyard.sources.cohort_catalogs import CohortCatalogs
from toolyard.transports.answer import Edge, in_rounds
from toolyard.upstreams.connections import Client as Person
from toolyard.web.recording.hops import Observed, ObservedTargets
from toolyard.web.recording.traffic import Traffic, recorded
from toolyard.web.site import Site
from toolyard.web.static import HOW, read_static
from toolyard.web.views.owners import PROJECT
from toolyard.web.window import Perform, Place, Window

# The person at the page can be asked anything that a client can.
CLIENT = ABLE._replace(info={"name": "toolyard-page", "version": __version__})
CALLER = Caller(id="page", name="page")
PERSON = Person(CALLER, guise_of(LATEST, CLIENT))


class Page:
    def __init__(self, plan: Plan, *, needs_token: bool, other: Other | None = None) -> None:
        self._plan = plan
        self._other = other
        self._needs_token = needs_token
        self._token = secrets.token_urlsafe(24)
        self._traffic = Traffic() if plan.settings.page_traffic else None
        self._files = read_static()

    @property
    def taps(self) -> Taps:
        return Taps(self._recorded, _observed, ObservedTargets)

    def _recorded(self, handler: Handler) -> Handler:
        return recorded(handler, self._traffic) if self._traffic else handler

    def invitation(self, origin: str) -> str:
        """What the person who started the server is told, once."""
        link = f"Page: {origin}/#token={self._token}"
        return link if self._files else f"{link} (not built: run `{HOW}` in the checkout)"

    @property
    def authenticator(self) -> Authenticator:
        """Admits whoever holds the page's token."""
        return Bearers(StaticTokens([StaticToken("page", hash_of(self._token))]))

    def site(self, app: App) -> Site:
        lineage = Lineage(app)
        window = Window(
            identity=self._plan.identity,
            catalog=Looking(app.keeper, app.own),
            announcer=app.keeper.announcer,
            call=performer(app.edge),
            place=self._place(),
            health=app.pool.health if app.pool else tuple,
            layers=lineage.of,
            secrets=lineage.secrets,
            traffic=self._traffic,
            registries=partial(registry_files, app),
            logins=_logins(app),
            read_only=self._plan.settings.page_read_only,
        )
        return Site(self._over(window, self._other), self._token, self._files)

    def _over(self, window: Window, other: Other | None) -> Window:
        """The window on another gateway: what ours serves is all that it serves."""
        if other is None:
            return window
        annotated = Annotated(window.catalog, other)
        files = (OtherFile(other, annotated()),) if other.native is not None else ()
        return replace(
            window,
            catalog=annotated,
            layers=other.layers,
            registries=lambda: files,
            place=replace(window.place, gateway=other.shown),
        )

    def _place(self) -> Place:
        project = self._plan.project
        return Place(
            project=os.path.abspath(project.root) if project else None,
            registries=tuple(map(os.path.abspath, registry_paths(self._plan))),
            program=_program(),
            needs_token=self._needs_token,
        )


class Looking:
    """The catalog of the person at the page: at once, while what is not known yet is asked for."""

    def __init__(self, keeper: Keeper, own: CohortCatalogs | None) -> None:
        self._keeper = keeper
        self._own = own
        self._settling: asyncio.Task[Catalog] | None = None
        self._asking: asyncio.Task[None] | None = None
        # Everybody's, and what this person sees in its place.
        self._mine: tuple[Catalog, Catalog] | None = None

    def __call__(self) -> Catalog:
        loop = asyncio.get_running_loop()
        if self._settling is None:
            self._settling = loop.create_task(self._keeper.catalog())
        current = self._keeper.current
        if self._own is None:
            return current
        if self._asking is None:
            self._asking = loop.create_task(self._ask(self._own, current))
        return self._mine[1] if self._mine is not None and self._mine[0] is current else current

    async def _ask(self, own: CohortCatalogs, current: Catalog) -> None:
        try:
            self._mine = (current, await own.of(current, PERSON))
        finally:
            self._asking = None


class Annotated:
    """The catalog with what the other gateway's registry says; made once for each."""

    def __init__(self, catalog: Callable[[], Catalog], other: Other) -> None:
        self._catalog = catalog
        self._other = other
        self._known: tuple[Catalog, Catalog] | None = None

    def __call__(self) -> Catalog:
        current = self._catalog()
        if self._known is None or self._known[0] is not current:
            self._known = (current, self._other.annotated(current))
        return self._known[1]


def _logins(app: App) -> PageLogins | None:
    if app.pool is None or app.logins is None:
        return None
    return PageLogins(app.pool, app.logins, CALLER)


def _observed(target: Target) -> Target:
    return Observed(target, PROJECT)


def _program() -> str:
    """What a client's configuration can run, whatever its PATH is."""
    beside = os.path.join(os.path.dirname(sys.executable), "toolyard")
    return beside if os.path.exists(beside) else shutil.which("toolyard") or "toolyard"


def performer(edge: Edge) -> Perform:
    """Makes calls as the page, through the handler of all clients."""

    async def perform(method: str, params: JsonObject, channel: Channel) -> Result:
        number = secrets.token_hex(8)
        meta = {"progressToken": number}
        call = Call(method, params, LATEST, CLIENT, CALLER, meta, id=number, log_level="debug")
        return await in_rounds(edge, call, channel)

    return perform
