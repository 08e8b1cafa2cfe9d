"""The composition root: settings -> sources -> keeper -> handler -> edge."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from toolyard import MCP_BASH_VERSION, __version__
from toolyard.app.access import (
    Logins,
    admit_of,
    guarded,
    limits_of,
    permit_of,
    refusals_of,
    view_of,
)
from toolyard.catalog.entries import Entries
from toolyard.catalog.keeper import Announced, Keeper
from toolyard.catalog.snapshot import Catalog
from toolyard.catalog.source import Source
from toolyard.methods.news import News
from toolyard.methods.offer import Offer, PageSizes, View
from toolyard.methods.roots import RootsMethods, RootsSettings
from toolyard.methods.subscriptions import Room
from toolyard.methods.table import Methods, methods_of, minimal_methods_of
from toolyard.processes.guard import Guard
from toolyard.protocol.call import LOCAL, Caller, Handler, JsonObject, Target
from toolyard.protocol.client import UNKNOWN
from toolyard.protocol.client import Client as Program
from toolyard.protocol.guise import guise_of
from toolyard.protocol.identity import Identity
from toolyard.protocol.manner import manner_of
from toolyard.protocol.modern import stamp
from toolyard.protocol.paging import page_size
from toolyard.protocol.revisions import LATEST
from toolyard.scripts.running.runner import Runner
from toolyard.scripts.tool import ScriptTarget
from toolyard.settings import Settings
from toolyard.sources.announced import announced
from toolyard.sources.cohort_catalogs import CohortCatalogs
from toolyard.sources.cohort_listings import CohortListings
from toolyard.sources.gateway import GatewaySource, RegistryFiles
from toolyard.sources.project.ci import notes_for
from toolyard.sources.project.discover.scan import Scan
from toolyard.sources.project.discover.warned import logger_of
from toolyard.sources.project.layout import REGISTRY_FILE, Project
from toolyard.sources.project.policy import policy_of
from toolyard.sources.project.roots import configured_roots
from toolyard.sources.project.running import project_paths, runner_settings
from toolyard.sources.project.server_env import read_server_env
from toolyard.sources.project.source import ProjectSource
from toolyard.sources.registry.lock.lock import LOCK_NAME
from toolyard.sources.registry.lock.source import Hold, LockedSource, held_offer, held_scripts
from toolyard.transports.answer import Edge
from toolyard.transports.bounds import Bounds
from toolyard.transports.parking import Parking
from toolyard.transports.seal import Sealer
from toolyard.upstreams.connections import Client
from toolyard.upstreams.lists.kept import KeptListings, kept_folder
from toolyard.upstreams.pool import Pool
from toolyard.upstreams.running import Limits
from toolyard.upstreams.setup import Setup
from toolyard.upstreams.target import UpstreamTargets

if TYPE_CHECKING:
    from toolyard.access.refusals import Refusals
    from toolyard.scripts.policy import PolicyScript


@dataclass(frozen=True, slots=True)
class Plan:
    """What to serve: made by a command, from its flags."""

    settings: Settings
    identity: Identity
    project: Project | None = None
    registries: tuple[str, ...] = ()
    # Behave as users of mcp-bash expect: deny by default, strict revisions, small pages.
    like_mcp_bash: bool = False
    # What a scan of this moment has found, when the first list was answered from it.
    scanned: Scan | None = None
    # One client, which started us, instead of any number over the network.
    own_client: bool = False
    # Read server.d/env.sh, where that is allowed.
    server_env: bool = True
    # Offer only what is as the lock has it.
    locked: bool = False


@dataclass(frozen=True, slots=True)
class Taps:
    """Where the page listens in: on every call, and on what does the work behind it."""

    handler: Callable[[Handler], Handler] = lambda handler: handler
    script: Callable[[Target], Target] = lambda target: target
    upstreams: Callable[[UpstreamTargets], UpstreamTargets] = lambda targets: targets


@dataclass(slots=True)
class App:
    """Everything that serves, without a transport."""

    keeper: Keeper
    methods: Methods
    edge: Edge
    guard: Guard
    runner: Runner | None = None
    pool: Pool | None = None
    gateway: GatewaySource | None = None
    policy: PolicyScript | None = None
    scripts: Source | None = None
    logins: Logins | None = None
    own: CohortCatalogs | None = None
    refusals: Refusals | None = None

    def settle_in(self, project: Project | None) -> None:
        """Work from the project's folder: a script starts faster from where we already are.

        Not where there are upstreams, which keep the folder of whoever started us.
        """
        if project is not None and self.pool is None:
            os.chdir(project.root)

    async def catalog(self, caller: Caller = LOCAL, program: Program = UNKNOWN) -> Catalog:
        """What a caller could see with this client: everybody's, and what is listed to him."""
        catalog = await self.keeper.catalog()
        if self.own is None:
            return catalog
        return await self.own.of(catalog, Client(caller, guise_of(LATEST, program)))

    async def watch(self) -> None:
        """Keep the catalog up to date, until cancelled."""
        own = (self._watch_logins(self.own),) if self.own is not None else ()
        await asyncio.gather(self.keeper.watch(), *own)

    async def _watch_logins(self, own: CohortCatalogs) -> None:
        await self.keeper.troubles.tend("watching logins", own.watch)

    async def close(self) -> None:
        """End what runs and waits; nothing is left behind."""
        await self.methods.close()
        await self.edge.parking.close()
        if self.own is not None:
            await self.own.close()
        if self.pool is not None:
            await self.pool.close()
        if self.policy is not None:
            await self.policy.close()
        if self.runner is not None:
            await self.runner.close()
        await self.guard.close()
        if self.refusals is not None:
            self.refusals.close()


@dataclass(frozen=True, slots=True)
class Scripts:
    """What runs the scripts of a project, what they may see, and which may be called."""

    runner: Runner
    roots: RootsMethods
    policy: PolicyScript | None
    source: Source
    project: ProjectSource


@dataclass(frozen=True, slots=True)
class Federation:
    """The upstreams of the registry files, laid over the scripts."""

    pool: Pool
    source: GatewaySource


def build(plan: Plan, taps: Taps | None = None) -> App:
    taps = taps or Taps()
    logins = Logins(plan.settings)
    guard = Guard(plan.settings.tmp_root or None)
    yard = scripts_of(plan, plan.project, taps, guard) if plan.project is not None else None
    scripts = yard.source if yard is not None else None
    federation = federation_of(plan, scripts, taps, logins, guard)
    source: Source | None = federation.source if federation is not None else scripts
    offered = locked(plan, source, hold_of(federation)) if source is not None else None
    keeper = Keeper([offered] if offered is not None else [])
    own = own_catalogs(federation, offered, logins, keeper) if federation is not None else None
    if yard is not None:
        yard.runner.announce = Announced(keeper)
    refusals = refusals_of(plan.settings)
    methods = methods_over(plan, offer_of(plan, keeper, federation, own), yard, federation)
    asking = methods if federation is None else logins.asking(methods, federation.pool.definition)
    limits = limits_of(plan.settings)
    edge = edge_of(plan, taps.handler(guarded(asking, plan.settings, limits)), refusals)
    if limits is not None:
        edge = replace(edge, count=limits.count)
    return App(
        keeper,
        methods,
        replace(
            edge, offered=partial(offered_of, plan, keeper, federation, view_of(plan.settings))
        ),
        guard,
        runner=yard.runner if yard is not None else None,
        pool=federation.pool if federation is not None else None,
        gateway=federation.source if federation is not None else None,
        policy=yard.policy if yard is not None else None,
        scripts=scripts,
        logins=logins,
        own=own,
        refusals=refusals,
    )


def own_catalogs(
    federation: Federation, offered: Source | None, logins: Logins, keeper: Keeper
) -> CohortCatalogs:
    """What is there for one caller alone, held to the lock where everything is."""
    listings = CohortListings(federation.pool, logins.login, keeper.announcer)
    hold = offered.held if isinstance(offered, LockedSource) else None
    return CohortCatalogs(federation.source, listings, hold)


def offer_of(
    plan: Plan, keeper: Keeper, federation: Federation | None, own: CohortCatalogs | None
) -> Offer:
    size = page_size(plan.settings.page_size, small=plan.like_mcp_bash)
    sizes = PageSizes(size.default, size.most)
    offer = Offer(keeper, stamp(plan.identity), sizes, view_of(plan.settings), own)
    if federation is None:
        return offer
    return replace(offer, arrivals=federation.source, listed=federation.pool.expire)


def methods_over(
    plan: Plan, offer: Offer, yard: Scripts | None, federation: Federation | None
) -> Methods:
    if plan.settings.force_minimal:
        return minimal_methods_of(offer)
    policy = yard.policy if yard is not None else None
    return methods_of(
        offer,
        permit_of(plan.settings, policy, deny_unnamed=plan.like_mcp_bash),
        yard.roots if yard is not None else None,
        news=news_of(plan, offer, yard),
        told_roots=federation.pool.roots_changed if federation is not None else None,
        room=Room(plan.settings.max_subscriptions),
    )


def news_of(plan: Plan, offer: Offer, yard: Scripts | None) -> News | None:
    if yard is None or plan.project is None:
        return None
    unseen = yard.project.unseen if plan.like_mcp_bash else None
    return News(offer.keeper, logger_for(plan, plan.project), unseen)


def logger_for(plan: Plan, project: Project) -> Callable[[str], str | None]:
    """Where rules say who sees what, a warning could name what its hearer may not see."""
    return (lambda _: None) if plan.settings.rules else partial(logger_of, project)


def edge_of(plan: Plan, handler: Handler, refusals: Refusals | None) -> Edge:
    return Edge(
        handler,
        plan.identity,
        Parking(Sealer()),
        manner=manner_of(like_mcp_bash=plan.like_mcp_bash),
        batches=plan.settings.compat_batches,
        log_level=plan.settings.log_level_default,
        admit=admit_of(plan.settings, refusals),
        bounds=Bounds(
            batch=plan.settings.max_batch,
            replay_session=plan.settings.replay_session_bytes,
            replay_all=plan.settings.replay_bytes,
        ),
    )


def offered_of(
    plan: Plan, keeper: Keeper, federation: Federation | None, view: View, caller: Caller
) -> JsonObject | None:
    """What upstreams offer to a caller, where there is nothing else; None where nobody knows yet.

    With a project everything is announced: scripts may come at any time.
    """
    if plan.project is not None or federation is None or plan.settings.force_minimal:
        return None
    source = federation.source
    if source.unlisted or source.registries.by_login:
        return None
    return announced(view(keeper.current, caller), source.listed().values())


def scripts_of(plan: Plan, project: Project, taps: Taps, guard: Guard) -> Scripts:
    settings = plan.settings
    configured = configured_roots(project, settings)
    roots = RootsMethods(
        configured.roots,
        RootsSettings(
            settings.roots_debounce_interval, settings.roots_request_timeout, plan.own_client
        ),
    )
    version = MCP_BASH_VERSION if plan.like_mcp_bash else __version__
    paths = project_paths(project, settings, plan.identity, configured, version)
    run_with = runner_settings(settings, like_mcp_bash=plan.like_mcp_bash)
    runner = Runner(run_with, paths, roots.of, guard)
    if plan.server_env:
        server_env = read_server_env(project, settings)
        runner.server_env, runner.problem = server_env.variables, server_env.problem
    scripts = project_source(plan, project, runner, taps)
    source = locked(plan, scripts, held_scripts)
    return Scripts(runner, roots, policy_of(project, runner), source, scripts)


def federation_of(
    plan: Plan, scripts: Source | None, taps: Taps, logins: Logins, guard: Guard
) -> Federation | None:
    """What the registry files describe; None where there are none."""
    paths = registry_paths(plan)
    if not paths:
        return None
    known = scripts.read() if scripts is not None else Entries()
    files = RegistryFiles(paths, lock=lock_path(plan) if plan.locked else None)
    registries = files.load(known)
    settings = plan.settings
    setup = Setup(
        limits=Limits(
            message=settings.max_upstream_message_bytes,
            entries=settings.max_upstream_entries,
            unasked=settings.max_upstream_messages_per_sec,
            told=settings.max_call_messages_per_sec,
        ),
        # What was kept may not be so any more: a lock is held against what servers say now.
        kept=KeptListings(None if plan.locked else kept_folder(paths[0])),
        authorize=logins.authorize,
        on_challenge=logins.on_challenge,
        guard=guard,
    )
    pool = Pool(registries.servers, setup)
    source = GatewaySource(files, registries, pool, scripts, tap=taps.upstreams)
    return Federation(pool, source)


def registry_paths(plan: Plan) -> tuple[str, ...]:
    """The files named, or the project's own `registry.json`."""
    if plan.project is None:
        return plan.registries
    own = os.path.join(plan.project.root, REGISTRY_FILE)
    if not os.path.isfile(own):
        return plan.registries
    others = (path for path in plan.registries if not os.path.samefile(path, own))
    return (own, *others)


def hold_of(federation: Federation | None) -> Hold:
    return held_offer if federation is None else partial(held_offer, live=federation.pool.live)


def locked(plan: Plan, source: Source, hold: Hold) -> Source:
    return LockedSource(source, lock_path(plan), hold) if plan.locked else source


def lock_path(plan: Plan) -> str:
    """Beside the first registry file, else in the project."""
    paths = registry_paths(plan)
    root = plan.project.root if plan.project is not None else "."
    return os.path.join(os.path.dirname(paths[0]) if paths else root, LOCK_NAME)


def project_source(plan: Plan, project: Project, runner: Runner, taps: Taps) -> ProjectSource:
    notes = notes_for(plan.settings)

    def tool_target(path: str, name: str, metadata: JsonObject) -> Target:
        target = taps.script(ScriptTarget(name, path, metadata, runner))
        return target if notes is None else notes.of(name, target)

    source = ProjectSource(
        project,
        plan.settings,
        runner=runner,
        make_tool_target=tool_target,
        scanned=plan.scanned,
    )
    if plan.like_mcp_bash:
        source.show_providers()
        source.compare_with_cache()
    return source
