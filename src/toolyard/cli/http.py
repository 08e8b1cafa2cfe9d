"""Run what a plan describes over HTTP."""

from __future__ import annotations

import asyncio
import ipaddress
import os
import socket
import sys
from dataclasses import dataclass

import uvloop

from toolyard.app import App, Plan, build
from toolyard.auth.callers import Anyone, Authenticator, OneToken
from toolyard.errors import ConfigError
from toolyard.transports.guard import LOOPBACK, Guard
from toolyard.transports.http import HttpSettings, HttpTransport
from toolyard.transports.serving import listen
from toolyard.transports.serving import serve as serve_asgi


@dataclass(frozen=True, slots=True)
class Address:
    host: str
    port: int
    allow_hosts: tuple[str, ...] = ()
    allow_origins: tuple[str, ...] = ()


def serve(plan: Plan, address: Address) -> int:
    authenticator = authenticator_for(address.host)
    sock = _listen(address)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve(plan, address, authenticator, sock))
    return 0


def authenticator_for(host: str) -> Authenticator:
    """Anyone on loopback; elsewhere nobody without a token."""
    token = os.environ.get("TOOLYARD_TOKEN")
    if token:
        return OneToken(token)
    if not is_loopback(host):
        raise ConfigError.at(
            "--http", f"refusing to bind {host} without a token: set TOOLYARD_TOKEN"
        )
    return Anyone()


def is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _listen(address: Address) -> socket.socket:
    try:
        return listen(address.host, address.port)
    except OSError as error:
        raise ConfigError.at(
            "--http", f"cannot listen on {address.host}:{address.port}: {error.strerror}"
        ) from None


async def _serve(
    plan: Plan, address: Address, authenticator: Authenticator, sock: socket.socket
) -> None:
    app = build(plan)
    hosts = LOOPBACK | {address.host, *address.allow_hosts}
    guard = Guard(hosts, frozenset(address.allow_origins))
    transport = HttpTransport(app.edge, HttpSettings(guard=guard, authenticator=authenticator))
    watching = asyncio.get_running_loop().create_task(app.watch())
    _announce(plan, sock, app)
    try:
        await serve_asgi(
            transport, sock, lambda: _wind_down(app, transport), plan.settings.shutdown_timeout
        )
    finally:
        watching.cancel()
        await app.close()


async def _wind_down(app: App, transport: HttpTransport) -> None:
    """Streams end, running calls go on to their answers."""
    await app.methods.close()
    await transport.drain()


def _announce(plan: Plan, sock: socket.socket, app: App) -> None:
    host, port = sock.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    catalog = app.keeper.current
    name = plan.identity.info.get("title") or plan.identity.info["name"]
    print(
        f"{name}: {len(catalog.tools)} tools, {len(catalog.resources)} resources, "
        f"{len(catalog.prompts)} prompts at http://{shown}:{port}/mcp (Ctrl-C ends it)",
        file=sys.stderr,
        flush=True,
    )
