"""What the registry files and their upstreams add to what is served; there may be none."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Protocol

from toolyard.access.callers import Authenticator
from toolyard.app.access import Logins, connect_routes
from toolyard.app.plan import Plan
from toolyard.app.scripts import Scripts, under_lock
from toolyard.app.taps import Taps
from toolyard.catalog.announcer import Announcer
from toolyard.catalog.entries import Entries, Tool
from toolyard.catalog.listing import Listing
from toolyard.catalog.snapshot import Catalog
from toolyard.catalog.source import Source
from toolyard.context.owners import owners
from toolyard.http.response import Responder
from toolyard.methods.offer import Offer
from toolyard.processes.ending.guard import Guard
from toolyard.protocol.call import Handler, JsonObject
from toolyard.sources.announced import announced
from toolyard.sources.cohort_catalogs import CohortCatalogs
from toolyard.sources.cohort_listings import CohortListings
from toolyard.sources.gateway import NO_REGISTRIES, GatewaySource, Registries, RegistryFiles
from toolyard.sources.registry.lock.source import LockedSource, held_offer
from toolyard.upstreams.connections import Downstream
from toolyard.upstreams.conversation.running import Limits
from toolyard.upstreams.definition import ServerDefinition
from toolyard.upstreams.health import Health
from toolyard.upstreams.lists.disk import RecordFolder, RecordKeeper, record_folder
from toolyard.upstreams.pool import Pool
from toolyard.upstreams.setup import Setup
from toolyard.upstreams.upstream import Upstream

if TYPE_CHECKING:
    from toolyard.cluster.cluster import Cluster
    from toolyard.upstreams.copies import Copies


class Federation(Protocol):
    """Everything behind the edge but the scripts: registry files, their upstreams, our logins."""

    @property
    def full_source(self) -> Source:
        """Everything that is served."""

    @property
    def registries(self) -> Registries: ...

    @property
    def scripts(self) -> tuple[Tool, ...]:
        """The tools of the project that the files are laid over, as last read."""

    @property
    def registry_refused(self) -> bool:
        """Do the registry files have mistakes right now, so that an older state is served?"""

    @property
    def silent_servers(self) -> int:
        """How many servers have not listed yet what they have."""

    @property
    def at_home(self) -> bool:
        """Nothing but scripts runs here: we may work from the project's folder."""

    @property
    def on_roots_changed(self) -> Callable[[str], None] | None: ...

    def offer(self, offer: Offer) -> Offer:
        """The offer, with what upstreams list."""

    def asking(self, handler: Handler) -> Handler:
        """The handler, which asks callers to log in if an upstream requires it."""

    def capabilities(self, view: Callable[[], Catalog]) -> JsonObject | None:
        """What all upstreams can do, as a caller sees them; None: not known yet, or everything."""

    def instructions(self, view: Callable[[], Catalog]) -> Mapping[str, str]:
        """What the servers that a caller sees tell models, in the order of the files."""

    def routes(self, authenticator: Authenticator) -> Mapping[str, Responder]: ...

    def health(self) -> tuple[Health, ...]: ...

    async def retry(self, server: str) -> bool:
        """Have a server tried again at once; False where there is no such server."""

    def known_listing(self, server: str) -> Listing | None: ...

    def upstream(self, identity: str) -> Upstream | None:
        """The server of this definition, for another process of ours."""

    def oauth_servers(self) -> list[ServerDefinition]: ...

    def would_read(self, instead: Mapping[str, bytes]) -> tuple[Entries, Registries]:
        """The entries there would be if files said this. Raises ConfigError."""

    async def catalog(self, everybodys: Catalog, client: Downstream) -> Catalog:
        """The catalog that everybody sees, with what is listed to this client alone."""

    async def ask(self) -> dict[str, str]:
        """Have every server list what it offers; gives those that could not, and why."""

    async def list_to(self, client: Downstream) -> None:
        """Have every server that lists to everybody list to this client."""

    async def watch(self) -> None: ...

    async def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class NoFederation:
    """The scripts alone: there is no registry file."""

    full_source: Source
    registries: Registries = NO_REGISTRIES
    scripts: tuple[Tool, ...] = ()
    registry_refused: bool = False
    silent_servers: int = 0
    at_home: bool = True
    on_roots_changed: None = None

    def offer(self, offer: Offer) -> Offer:
        return offer

    def asking(self, handler: Handler) -> Handler:
        return handler

    def capabilities(self, view: Callable[[], Catalog]) -> None:
        """Scripts may come at any time."""

    def instructions(self, view: Callable[[], Catalog]) -> Mapping[str, str]:
        return {}

    def routes(self, authenticator: Authenticator) -> Mapping[str, Responder]:
        return {}

    def health(self) -> tuple[Health, ...]:
        return ()

    async def retry(self, server: str) -> bool:
        return False

    def known_listing(self, server: str) -> None:
        """There is no server."""

    def upstream(self, identity: str) -> None:
        """There is no server."""

    def oauth_servers(self) -> list[ServerDefinition]:
        return []

    def would_read(self, instead: Mapping[str, bytes]) -> tuple[Entries, Registries]:
        return self.full_source.read(), self.registries

    async def catalog(self, everybodys: Catalog, client: Downstream) -> Catalog:
        return everybodys

    async def ask(self) -> dict[str, str]:
        return {}

    async def list_to(self, client: Downstream) -> None:
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
    full_source: Source
    # Without a project. With one, every capability is announced: scripts may come at any time.
    alone: bool
    # Upstreams are started in the folder that we were started in.
    at_home: bool = False

    @property
    def registries(self) -> Registries:
        return self.source.registries

    @property
    def scripts(self) -> tuple[Tool, ...]:
        return self.source.scripts

    @property
    def registry_refused(self) -> bool:
        return self.source.refused is not None

    @property
    def silent_servers(self) -> int:
        return self.source.unlisted

    @property
    def on_roots_changed(self) -> Callable[[str], None]:
        return self.pool.roots_changed

    def offer(self, offer: Offer) -> Offer:
        return replace(offer, cohorts=self.cohorts, arrivals=self.source, on_list=self.pool.expire)

    def asking(self, handler: Handler) -> Handler:
        return self.logins.asking(handler, self.pool.definition)

    def capabilities(self, view: Callable[[], Catalog]) -> JsonObject | None:
        if not self.alone or self.source.unlisted or self.registries.by_login:
            return None
        return announced(view(), self.source.listed().values())

    def instructions(self, view: Callable[[], Catalog]) -> Mapping[str, str]:
        texts = {server.name: self._instructions(server) for server in self.registries.servers}
        if not any(texts.values()):
            return {}
        visible = owners(view())
        return {name: text for name, text in texts.items() if text and name in visible}

    def _instructions(self, server: ServerDefinition) -> str | None:
        listing = self.source.listed().get(server.name)
        if server.instructions is not None or listing is None:
            return server.instructions
        return listing.instructions

    def routes(self, authenticator: Authenticator) -> Mapping[str, Responder]:
        return connect_routes(self.logins, authenticator, self.oauth_servers)

    def health(self) -> tuple[Health, ...]:
        return self.pool.health()

    async def retry(self, server: str) -> bool:
        return await self.pool.retry(server)

    def known_listing(self, server: str) -> Listing | None:
        return self.pool.known_listing(server)

    def upstream(self, identity: str) -> Upstream | None:
        return self.pool.running(identity)

    def oauth_servers(self) -> list[ServerDefinition]:
        definitions = (self.pool.definition(name) for name in self.pool.servers())
        return [
            definition
            for definition in definitions
            if definition is not None and definition.auth == "oauth"
        ]

    def would_read(self, instead: Mapping[str, bytes]) -> tuple[Entries, Registries]:
        return self.source.would_read(instead)

    async def catalog(self, everybodys: Catalog, client: Downstream) -> Catalog:
        return await self.cohorts.of(everybodys, client)

    async def ask(self) -> dict[str, str]:
        return await self.source.ask()

    async def list_to(self, client: Downstream) -> None:
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
    setup: Setup,
    announcer: Announcer,
) -> Federation:
    paths = plan.registry_paths
    if not paths:
        return NoFederation(scripts.full_source)
    files = RegistryFiles(paths, lock=plan.lock_path if plan.by_lock else None)
    registries = files.load(scripts.source.read())
    pool = Pool(registries.servers, replace(setup, watch=taps.watch))
    source = GatewaySource(
        files, registries, pool, scripts.source, tap=taps.upstreams, onlooker=taps.onlooker
    )
    full_source = under_lock(plan, source, partial(held_offer, live=pool.live))
    # What only one caller sees must also be as the lock says, if everything else must.
    hold = full_source.held if isinstance(full_source, LockedSource) else None
    cohorts = CohortCatalogs(source, CohortListings(pool, logins, announcer), hold)
    return RegistryFederation(
        pool, source, cohorts, logins, full_source, alone=plan.project is None
    )


def upstream_setup(plan: Plan, logins: Logins, guard: Guard, cluster: Cluster | None) -> Setup:
    settings = plan.settings
    return Setup(
        limits=Limits(
            message=settings.max_upstream_message_bytes,
            entries=settings.max_upstream_entries,
            unrequested_rate=settings.max_upstream_messages_per_sec,
            message_rate=settings.max_call_messages_per_sec,
        ),
        listing_cache=_listing_cache(plan, cluster),
        authorize=logins.authorize,
        on_challenge=logins.on_challenge,
        guard=guard,
        copies=_copies(cluster),
    )


def _copies(cluster: Cluster | None) -> Copies | None:
    if cluster is None:
        return None
    # A process on its own needs none of it.
    from toolyard.app.workers.copies import copies_of  # noqa: PLC0415

    return copies_of(cluster)


def _listing_cache(plan: Plan, cluster: Cluster | None) -> RecordKeeper:
    # What was kept may be out of date: the lock is compared with what servers say now.
    if plan.by_lock or not plan.registry_paths:
        return RecordFolder(None)
    folder = RecordFolder(record_folder(plan.registry_paths[0]))
    if cluster is None or cluster.store is None:
        return folder
    # Whoever has no store needs none of it.
    from toolyard.upstreams.lists.shared import SharedRecords  # noqa: PLC0415

    return SharedRecords(folder, cluster.store, cluster.keys.seal("listing"))
