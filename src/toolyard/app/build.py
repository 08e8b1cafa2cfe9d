"""The composition root: plan -> scripts -> federation -> keeper -> methods -> edge.

Each part is made whole, from the parts before it. Where two need each other, what they share
is made first: scripts report changes to the announcer, and the keeper hears them there.
"""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from toolyard.app.access import (
    Logins,
    Recorded,
    admit_of,
    guarded,
    limits_of,
    permit_of,
    refusals_of,
    view_of,
)
from toolyard.app.context import Context, context_of
from toolyard.app.federation import Federation, federation_of, upstream_setup
from toolyard.app.plan import Plan
from toolyard.app.scripts import Scripts, scripts_of
from toolyard.app.taps import NoTaps, Taps
from toolyard.app.tasks import LaterTasks
from toolyard.catalog.announcer import Announcer
from toolyard.catalog.keeper import Keeper
from toolyard.catalog.snapshot import Catalog, Narrowing
from toolyard.context.instructions import merged
from toolyard.methods.offer import Offer, PageSizes
from toolyard.methods.subscriptions import Room
from toolyard.methods.table import Methods, methods_of, minimal_methods_of, unwrapped
from toolyard.methods.tools import ToolMethods
from toolyard.processes.ending.guard import Guard
from toolyard.protocol.call import LOCAL, Caller
from toolyard.protocol.client import UNKNOWN, Client
from toolyard.protocol.eras.manner import manner_of
from toolyard.protocol.eras.modern import stamp
from toolyard.protocol.guise import guise_of
from toolyard.protocol.identity import Identity
from toolyard.protocol.paging import page_size
from toolyard.protocol.revisions import LATEST
from toolyard.transports.answer import Edge, uncounted
from toolyard.transports.bounds import Bounds
from toolyard.transports.parking import Parking
from toolyard.transports.seal import Sealer
from toolyard.upstreams.connections import Downstream

if TYPE_CHECKING:
    from toolyard.access.limits.limited import CallLimits
    from toolyard.cluster.cluster import Cluster
    from toolyard.cluster.standing import Standing


@dataclass(frozen=True, slots=True)
class App:
    """Everything that serves, without a transport."""

    keeper: Keeper
    methods: Methods
    edge: Edge
    guard: Guard
    scripts: Scripts
    federation: Federation
    logins: Logins
    refusals: Recorded
    cluster: Cluster | None  # None: nobody serves the same
    limits: CallLimits | None
    tasks: LaterTasks
    standing: Standing | None  # among those that share a store
    context: Context

    def settle_in(self, plan: Plan) -> None:
        """Work from the project's folder: a script starts faster from where we already are."""
        if plan.project is not None and self.federation.at_home:
            os.chdir(plan.project.root)

    async def catalog(self, caller: Caller = LOCAL, client: Client = UNKNOWN) -> Catalog:
        """What a caller could see with this client: everybody's catalog, and its own listings."""
        catalog = await self.keeper.catalog()
        return await self.federation.catalog(catalog, Downstream(caller, guise_of(LATEST, client)))

    async def watch(self) -> None:
        """Keep the catalog up to date, until cancelled."""
        logins = self.keeper.troubles.tend("watching logins", self.federation.watch)
        await asyncio.gather(self.keeper.watch(), logins)

    async def close(self) -> None:
        """End everything that runs or waits; nothing is left behind."""
        await self.methods.close()
        await self.edge.parking.close()
        await self.tasks.close()
        await self.federation.close()
        await self.logins.close()
        await self.scripts.close()
        await self.guard.close()
        self.refusals.close()
        if self.limits is not None:
            await self.limits.close()


def build(plan: Plan, taps: Taps | None = None, cluster: Cluster | None = None) -> App:
    taps = taps or NoTaps()
    logins = Logins(plan.settings, cluster)
    guard = Guard(plan.settings.tmp_root or None)
    announcer = Announcer()
    scripts = scripts_of(plan, taps, guard, announcer)
    setup = upstream_setup(plan, logins, guard, cluster)
    federation = federation_of(plan, scripts, taps, logins, setup, announcer)
    context = context_of(plan, federation, taps.saved)
    keeper = Keeper([federation.full_source], announcer, context.indexes.prepare)
    narrow = view_of(plan.settings)
    tasks = LaterTasks(plan, cluster)
    offer = context.offer(_offer(plan, keeper, federation, narrow))
    tools = _tools(plan, offer, scripts, taps, tasks, context)
    tasks.resume = tools.resume
    methods = _methods(plan, offer, scripts, federation, tools)
    limits = limits_of(plan.settings, cluster)
    # Outermost: whatever limits, records or shows a call is about the tool that does the work.
    inner = guarded(federation.asking(methods), plan.settings, limits)
    handler = unwrapped(taps.handler(inner), offer.lists_all)
    refusals = refusals_of(plan.settings)
    edge = Edge(
        handler,
        plan.identity,
        _parking(cluster),
        manner=manner_of(like_mcp_bash=plan.like_mcp_bash),
        batches=plan.settings.compat_batches,
        log_level=plan.settings.log_level_default,
        admit=admit_of(plan.settings, refusals),
        bounds=_bounds(plan),
        seen_by=partial(_seen_by, plan, keeper, federation, narrow),
        count=limits.count if limits is not None else uncounted,
        observe=taps.request,
        note=taps.note,
    )
    return App(
        context=context,
        keeper=keeper,
        methods=methods,
        edge=edge,
        guard=guard,
        scripts=scripts,
        federation=federation,
        logins=logins,
        refusals=refusals,
        cluster=cluster,
        limits=limits,
        tasks=tasks,
        standing=_standing(cluster, federation),
    )


def _standing(cluster: Cluster | None, federation: Federation) -> Standing | None:
    if cluster is None:
        return None
    # A process on its own needs none of it.
    from toolyard.cluster.standing import Standing  # noqa: PLC0415

    return Standing.of(cluster, lambda: federation.registries.digest)


def _parking(cluster: Cluster | None) -> Parking:
    """What one process seals, the others open."""
    if cluster is None:
        return Parking(Sealer())
    return Parking(Sealer(cluster.keys.seal("requestState")), home=cluster.name)


def _bounds(plan: Plan) -> Bounds:
    return Bounds(
        batch=plan.settings.max_batch,
        replay_session=plan.settings.replay_session_bytes,
        replay_all=plan.settings.replay_bytes,
    )


def _offer(plan: Plan, keeper: Keeper, federation: Federation, narrow: Narrowing | None) -> Offer:
    size = page_size(plan.settings.page_size, small=plan.like_mcp_bash)
    sizes = PageSizes(size.default, size.most)
    return federation.offer(Offer(keeper, stamp(plan.identity), sizes, narrow))


def _tools(
    plan: Plan, offer: Offer, scripts: Scripts, taps: Taps, tasks: LaterTasks, context: Context
) -> ToolMethods:
    permit = permit_of(plan.settings, scripts.policy, deny_unnamed=plan.like_mcp_bash)
    return ToolMethods(offer, taps.permit(permit), tasks.methods, context.results)


def _methods(
    plan: Plan,
    offer: Offer,
    scripts: Scripts,
    federation: Federation,
    tools: ToolMethods,
) -> Methods:
    if plan.settings.force_minimal:
        return minimal_methods_of(offer)
    return methods_of(
        offer,
        tools,
        scripts.roots,
        news=scripts.news(offer.keeper),
        on_roots_changed=federation.on_roots_changed,
        room=Room(plan.settings.max_subscriptions),
    )


def _seen_by(
    plan: Plan,
    keeper: Keeper,
    federation: Federation,
    narrow: Narrowing | None,
    identity: Identity,
    caller: Caller,
) -> Identity:
    """What upstreams can do for a caller, if there is nothing else, and what they tell models."""
    if plan.settings.force_minimal:
        return identity

    def seen() -> Catalog:
        return keeper.current if narrow is None else narrow(keeper.current, caller)

    capabilities = federation.capabilities(seen)
    if capabilities is not None:
        identity = identity.able_to(capabilities)
    if "tasks" in identity.capabilities and caller.id != LOCAL.id:
        identity = identity.listing_tasks()
    parts = federation.instructions(seen)
    if not parts:
        return identity
    text = merged(identity.instructions, parts, plan.settings.max_instructions_bytes)
    return identity._replace(instructions=text)
