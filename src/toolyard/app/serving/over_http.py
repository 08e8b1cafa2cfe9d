"""Run what a plan describes over HTTP."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import sys
from typing import TYPE_CHECKING

import uvloop

from toolyard.access.callers import Anyone, Authenticator
from toolyard.app.access import authenticator_of, routes_of
from toolyard.app.build import App, build
from toolyard.app.observing import Observation, observation_of
from toolyard.app.page.page import Page
from toolyard.app.payloads import payload_log
from toolyard.app.plan import Plan
from toolyard.app.serving.endpoints import ServingVitals, registry_endpoint, status_endpoint
from toolyard.app.serving.later import Later
from toolyard.app.serving.readiness import PATH as READY
from toolyard.app.serving.readiness import Readiness
from toolyard.app.serving.running import keep_instructions, kept_running
from toolyard.app.taps import NoTaps
from toolyard.app.workers.address import Address
from toolyard.http.response import Responder
from toolyard.http.serving.patience import Patience
from toolyard.http.serving.server import Door, OwnSocket, WindingDown, serve_at
from toolyard.settings import Settings
from toolyard.telemetry import counted
from toolyard.transports.endpoint.app import HttpSettings, HttpTransport

if TYPE_CHECKING:
    from toolyard.app.early.welcome import Welcome
    from toolyard.app.workers.crew import Worker
    from toolyard.app.workers.membership import Membership
    from toolyard.cluster.cluster import Cluster
    from toolyard.cluster.door import Service
    from toolyard.web.site import Site


def serve(
    plan: Plan,
    address: Address,
    worker: Worker | None = None,
    welcome: Welcome | None = None,
) -> int:
    """`welcome`: who has listened there until now, and answered."""
    authenticator = authenticator_of(plan.settings, loopback=is_loopback(address.host))
    member = _member(worker)
    if welcome is not None:
        own = OwnSocket(welcome.sock, welcome.end)
    else:
        own = OwnSocket(address.listen() if member is None else member.listen())
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve_clustered(plan, address, authenticator, own, member))
    return 0


def _member(worker: Worker | None) -> Membership | None:
    if worker is None:
        return None
    # A process on its own needs none of it.
    from toolyard.app.workers.membership import Membership  # noqa: PLC0415

    return Membership(worker)


def is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


async def _serve_clustered(
    plan: Plan,
    address: Address,
    authenticator: Authenticator,
    own: OwnSocket,
    member: Membership | None,
) -> None:
    if member is None and not plan.settings.store:
        await _serve(plan, address, authenticator, own, None, None)
        return
    # A process on its own needs none of it.
    from toolyard.app.workers.clustering import clustered  # noqa: PLC0415

    async with clustered(plan.settings, member.worker if member else None) as cluster:
        await _serve(plan, address, authenticator, own, member, cluster)


async def _serve(
    plan: Plan,
    address: Address,
    authenticator: Authenticator,
    own: OwnSocket,
    member: Membership | None,
    cluster: Cluster | None,
) -> None:
    page = _page(plan, address, authenticator, cluster) if address.page else None
    observation = observation_of(plan, "tcp")
    app = build(plan, observation.over(page.taps if page else NoTaps()), cluster)
    observation.follow(app.edge.parking)
    app.settle_in(plan)
    site = page.site(app, observation.pictures(cluster)) if page else None
    extra = {**routes_of(plan.settings), **app.federation.routes(authenticator)}
    extra |= registry_endpoint(app, page.authenticator if page else authenticator)
    readiness = Readiness(app)
    extra[READY] = readiness
    services: dict[str, Service] = {}
    if site is not None:
        extra["/"] = _page_of_all(cluster, site, services)
    settings = HttpSettings(
        guard=address.guard,
        authenticator=authenticator,
        max_sessions=plan.settings.max_sessions,
        max_sessions_per_caller=plan.settings.max_sessions_per_caller,
    )
    private: dict[str, Responder] = {"/status": status_endpoint(plan, app)}
    transport = HttpTransport(app.edge, settings, extra, private, cluster)
    private |= observation.endpoint(ServingVitals(app, transport), cluster)
    entrance = own if member is None else member.begin()
    patience = _patience(plan.settings)
    patience.make_room()
    async with observation.running(), kept_running(app):
        if member is None or member.worker.place.first:
            _announce(plan, own.sock, app, page)
        responder = observation.around(app.refusals.over(transport))
        if cluster is not None:
            visit = observation.around_visits(transport.visit)
            services |= {**_services(cluster, visit, app, observation), **observation.services()}
        front = Door(_with_payload_log(plan, responder), entrance, patience)
        ending = WindingDown(
            lambda: _wind_down(app, transport, site, readiness),
            plan.settings.shutdown_timeout,
            lambda: _leave(plan.settings, transport, readiness, cluster),
        )
        await serve_at([front, cluster.door(services)] if cluster else [front], ending)
        await transport.close()
        if isinstance(authenticator, Anyone) and cluster is None:
            keep_instructions(plan, app)


def _services(
    cluster: Cluster, visit: Service, app: App, observation: Observation
) -> dict[str, Service]:
    """What the other processes may ask of this one."""
    from toolyard.app.workers.clustering import services_of  # noqa: PLC0415 - as above
    from toolyard.app.workers.copies import SERVICE  # noqa: PLC0415 - as above
    from toolyard.app.workers.copy_service import copy_service  # noqa: PLC0415 - as above

    copies = observation.around_copies(copy_service(app.federation.upstream), cluster)
    return {"mcp": visit, SERVICE: copies, **services_of(cluster)}


def _page_of_all(
    cluster: Cluster | None, site: Later[Site], services: dict[str, Service]
) -> Responder:
    """One process answers for the page, whichever is asked."""
    if cluster is None:
        return site
    from toolyard.app.page.others import SERVICE, calls_service  # noqa: PLC0415 - as above
    from toolyard.cluster.home import AtHome  # noqa: PLC0415 - as above

    home = AtHome(cluster, "page", "/api", site)
    services |= {"page": home.visit, SERVICE: calls_service(site.responder.window)}
    return home


def _patience(settings: Settings) -> Patience:
    return Patience(
        head=settings.head_timeout,
        body=settings.body_timeout,
        stall=settings.stall_timeout,
        idle=settings.keep_alive,
        connections=settings.max_connections,
        per_address=settings.max_connections_per_address,
    )


def _page(
    plan: Plan, address: Address, authenticator: Authenticator, cluster: Cluster | None
) -> Page:
    needs_token = not isinstance(authenticator, Anyone)
    token = cluster.keys.token("page") if cluster is not None else ""
    return Page(plan, needs_token=needs_token, gateway=address.gateway, token=token)


def _with_payload_log(plan: Plan, responder: Responder) -> Responder:
    payloads = payload_log(plan.settings)
    return payloads.over(responder) if payloads is not None else responder


def _leave(
    settings: Settings, transport: HttpTransport, readiness: Readiness, cluster: Cluster | None
) -> float:
    """From now on others are to be asked. One that is alone, and was never asked, just ends."""
    readiness.draining = True
    transport.leave()
    return settings.drain_pause if cluster is not None or readiness.asked else 0.0


async def _wind_down(
    app: App, transport: HttpTransport, site: Later[Site] | None, readiness: Readiness
) -> None:
    """Streams end; running calls may finish, except those of the page."""
    await readiness.drain()
    await app.methods.close()
    if site is not None and site.is_made:
        await site.responder.close()
    await transport.drain()


def _announce(plan: Plan, sock: socket.socket, app: App, page: Page | None) -> None:
    host, port = sock.getsockname()[:2]
    shown_host = f"[{host}]" if ":" in host else host
    catalog = app.keeper.current
    name = plan.identity.info.get("title") or plan.identity.info["name"]
    summary = (
        f"{name}: {counted(len(catalog.tools), 'tool')}, "
        f"{counted(len(catalog.resources), 'resource')}, "
        f"{counted(len(catalog.prompts), 'prompt')}{_more_to_come(app)} "
        f"at http://{shown_host}:{port}/mcp "
        "(Ctrl-C ends it)"
    )
    invitation = (page.invitation(f"http://{shown_host}:{port}"),) if page else ()
    print("\n".join((summary, *invitation)), file=sys.stderr, flush=True)


def _more_to_come(app: App) -> str:
    count = app.federation.silent_servers
    return f", and what {counted(count, 'server')} will list," if count else ""
