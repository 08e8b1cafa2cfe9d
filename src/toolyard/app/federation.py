"""What the registry files and their upstreams add to what is served; there may be none."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

from toolyard.access.callers import Authenticator
from toolyard.app.access import Logins, connect_routes
from toolyard.app.plan import Plan
from toolyard.app.scripts import Scripts, held
from toolyard.app.taps import Taps
from toolyard.catalog.announcer import Announcer
from toolyard.catalog.entries import Entries, Tool
from toolyard.catalog.listing import Listing
from toolyard.catalog.snapshot import Catalog
from toolyard.catalog.source import Source
from toolyard.http.response import Responder
from toolyard.methods.offer import Offer
from toolyard.processes.guard import Guard
from toolyard.protocol.call import Handler, JsonObject
from toolyard.sources.announced import announced
from toolyard.sources.cohort_catalogs import CohortCatalogs
from toolyard.sources.cohort_listings import CohortListings
from toolyard.sources.gateway import NO_REGISTRIES, GatewaySource, Registries, RegistryFiles
from toolyard.sources.registry.lock.source import LockedSource, held_offer
from toolyard.upstreams.connections import Client
from toolyard.upstreams.definition import ServerDefinition
from toolyard.upstreams.health import Health
from toolyard.upstreams.lists.kept import KeptListings, kept_folder
from toolyard.upstreams.pool import Pool
from toolyard.upstreams.running import Limits
from toolyard.upstreams.setup import Setup


class Federation(Protocol):
    @property
    def offered(self) -> Source:
        """Everything that is served."""

    @property
    def registries(self) -> Registries: ...

    @property
    def scripts(self) -> tuple[Tool, ...]:
        """The tools of the project that the files are laid over, as last read."""

    @property
    def refused(self) -> bool:
        """Are the registry files of this moment wrong?"""

    @property
    def unlisted(self) -> int:
        """How many servers have not said yet what they have."""

    @property
    def at_home(self) -> bool:
        """Nothing but scripts runs here: we may work from the project's folder."""

    @property
    def told_roots(self) -> Callable[[str], None] | None: ...

    def offer(self, offer: Offer) -> Offer:
        """The offer, with what upstreams list."""

    def asking(self, handler: Handler) -> Handler:
        """The handler, which asks callers to log in where an upstream wants it."""

    def capabilities(self, seen: Callable[[], Catalog]) -> JsonObject | None:
        """Of upstreams together, as a caller sees them; None: unknown yet, or everything."""

    def routes(self, authenticator: Authenticator) -> Mapping[str, Responder]: ...

    def health(self) -> tuple[Health, ...]: ...

    def known_listing(self, server: str) -> Listing | None: ...

    def oauth_servers(self) -> list[ServerDefinition]: ...

    def would_read(self, instead: Mapping[str, bytes]) -> tuple[Entries, Registries]:
        """The entries if files said this. Raises ConfigError."""

    async def catalog(self, shared: Catalog, client: Client) -> Catalog:
        """Everybody's catalog, with what is listed to this client."""

    async def ask(self) -> dict[str, str]:
        """Have every server say what it offers; those that could not, and why."""

    async def list_to(self, client: Client) -> None:
        """Have every server that lists to everybody list to this client."""

    async def watch(self) -> None: ...

    async def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class NoFederation:
    """The scripts alone: there is no registry file."""

    offered: Source
    registries: Registries = NO_REGISTRIES
    scripts: tuple[Tool, ...] = ()
    refused: bool = False
    unlisted: int = 0
    at_home: bool = True
    told_roots: None = None

    def offer(self, offer: Offer) -> Offer:
        return offer

    def asking(self, handler: Handler) -> Handler:
        return handler

    def capabilities(self, seen: Callable[[], Catalog]) -> None:
        """Scripts may come at any time."""

    def routes(self, authenticator: Authenticator) -> Mapping[str, Responder]:
        return {}

    def health(self) -> tuple[Health, ...]:
        return ()

    def known_listing(self, server: str) -> None:
        """There is no server."""

    def oauth_servers(self) -> list[ServerDefinition]:
        return []

    def would_read(self, instead: Mapping[str, bytes]) -> tuple[Entries, Registries]:
        return self.offered.read(), self.registries

    async def catalog(self, shared: Catalog, client: Client) -> Catalog:
        return shared

    async def ask(self) -> dict[str, str]:
        return {}

    async def list_to(self, client: Client) -> None:
        """Nobody lists."""

    async def watch(self) -> None:
        """Nobody logs in anywhere."""

    async def close(self) -> None:
        """Nothing is open."""


@dataclass(frozen=True, slots=True)
class RegistryFederation:
    """The upstreams of the registry files, laid over the scripts."""

    pool: Pool
    source: GatewaySource
    cohorts: CohortCatalogs
    logins: Logins
    offered: Source
    # With a project everything is announced: scripts may come at any time.
    alone: bool
    # Upstreams keep the folder of whoever started us.
    at_home: bool = False

    @property
    def registries(self) -> Registries:
        return self.source.registries

    @property
    def scripts(self) -> tuple[Tool, ...]:
        return self.source.scripts

    @property
    def refused(self) -> bool:
        return self.source.refused is not None

    @property
    def unlisted(self) -> int:
        return self.source.unlisted

    @property
    def told_roots(self) -> Callable[[str], None]:
        return self.pool.roots_changed

    def offer(self, offer: Offer) -> Offer:
        return replace(offer, cohorts=self.cohorts, arrivals=self.source, listed=self.pool.expire)

    def asking(self, handler: Handler) -> Handler:
        return self.logins.asking(handler, self.pool.definition)

    def capabilities(self, seen: Callable[[], Catalog]) -> JsonObject | None:
        if not self.alone or self.source.unlisted or self.registries.by_login:
            return None
        return announced(seen(), self.source.listed().values())

    def routes(self, authenticator: Authenticator) -> Mapping[str, Responder]:
        return connect_routes(self.logins, authenticator, self.oauth_servers)

    def health(self) -> tuple[Health, ...]:
        return self.pool.health()

    def known_listing(self, server: str) -> Listing | None:
        return self.pool.known_listing(server)

    def oauth_servers(self) -> list[ServerDefinition]:
        definitions = (self.pool.definition(name) for name in self.pool.servers())
        return [one for one in definitions if one is not None and one.auth == "oauth"]

    def would_read(self, instead: Mapping[str, bytes]) -> tuple[Entries, Registries]:
        return self.source.would_read(instead)

    async def catalog(self, shared: Catalog, client: Client) -> Catalog:
        return await self.cohorts.of(shared, client)

    async def ask(self) -> dict[str, str]:
        return await self.source.ask()

    async def list_to(self, client: Client) -> None:
        await asyncio.gather(*(self.pool.listing(name, client) for name in self.source.needed))

    async def watch(self) -> None:
        await self.cohorts.watch()

    async def close(self) -> None:
        await self.cohorts.close()
        await self.pool.close()


def federation_of(
    plan: Plan,
    scripts: Scripts,
    taps: Taps,
    logins: Logins,
    guard: Guard,
    announcer: Announcer,
) -> Federation:
    paths = plan.registry_paths
    if not paths:
        return NoFederation(scripts.offered)
    files = RegistryFiles(paths, lock=plan.lock_path if plan.locked else None)
    registries = files.load(scripts.source.read())
    pool = Pool(registries.servers, _setup(plan, logins, guard))
    source = GatewaySource(files, registries, pool, scripts.source, tap=taps.upstreams)
    offered = held(plan, source, partial(held_offer, live=pool.live))
    # What is there for one caller alone is held to the lock where everything is.
    hold = offered.held if isinstance(offered, LockedSource) else None
    cohorts = CohortCatalogs(source, CohortListings(pool, logins.login, announcer), hold)
    return RegistryFederation(pool, source, cohorts, logins, offered, alone=plan.project is None)


def _setup(plan: Plan, logins: Logins, guard: Guard) -> Setup:
    settings = plan.settings
    # What was kept may not be so any more: a lock is held against what servers say now.
    folder = None if plan.locked else kept_folder(plan.registry_paths[0])
    return Setup(
        limits=Limits(
            message=settings.max_upstream_message_bytes,
            entries=settings.max_upstream_entries,
            unrequested_rate=settings.max_upstream_messages_per_sec,
            message_rate=settings.max_call_messages_per_sec,
        ),
        listing_cache=KeptListings(folder),
        authorize=logins.authorize,
        on_challenge=logins.on_challenge,
        guard=guard,
    )
