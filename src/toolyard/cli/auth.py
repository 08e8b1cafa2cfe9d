"""toolyard auth: log in at the OAuth servers of a registry, see the logins, log out."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from argparse import ArgumentParser, Namespace
from datetime import UTC, datetime

from toolyard.access.oauth.accounts import Accounts
from toolyard.access.oauth.browser import Loopback, open_or_print, print_only
from toolyard.access.oauth.errors import OAuthError
from toolyard.access.oauth.grant import Grant
from toolyard.access.oauth.metadata import is_web_url
from toolyard.app.access import accounts_of
from toolyard.app.plan import Plan
from toolyard.cli.options import Chosen, add_project, choose
from toolyard.errors import ConfigError
from toolyard.protocol.call import Caller
from toolyard.protocol.identity import Identity
from toolyard.sources.registry.format.load import load_registry
from toolyard.upstreams.definition import ServerDefinition


def add(parser: ArgumentParser) -> None:
    parser.add_argument("action", choices=("login", "status", "logout"))
    parser.add_argument("server", nargs="?", help="its name in the registry, or its URL")
    parser.add_argument("path", nargs="*", help="registry files that name it")
    parser.add_argument("--scope", default="", help="scopes to ask for besides those it wants")
    parser.add_argument(
        "--no-browser", action="store_true", help="print the link and open no browser"
    )
    parser.add_argument(
        "--caller", default="local", help="for whom, as the audit log names callers"
    )
    add_project(parser)


def run(options: Namespace) -> int:
    if options.server is None and options.action != "status":
        raise ConfigError.at(options.action, "which server? give its name or its URL")
    chosen = _chosen(options)
    accounts, caller = accounts_of(chosen.settings), Caller(options.caller, options.caller)
    servers = _servers(options.server, chosen)
    if options.action == "status":
        return _status(accounts, caller, servers)
    work = _login if options.action == "login" else _logout
    try:
        return asyncio.run(work(accounts, caller, servers[0], options))
    except OAuthError as error:
        print(f"{servers[0].name}: {error}", file=sys.stderr)
        return 1


def _chosen(options: Namespace) -> Chosen:
    """`status FILE` names no server."""
    if options.server is not None and os.path.exists(options.server):
        options.path, options.server = [options.server, *options.path], None
    return choose(options)


def _servers(named: str | None, chosen: Chosen) -> list[ServerDefinition]:
    known = _oauth_servers(chosen)
    if named is None:
        return known
    found = [server for server in known if named in (server.name, server.url)]
    if found:
        return found[:1]
    if is_web_url(named):
        return [ServerDefinition(named, url=named, auth="oauth")]
    hint = ", ".join(server.name for server in known) or "none; give a registry file or a URL"
    raise ConfigError.at(named, f"no OAuth server of that name (known: {hint})")


def _oauth_servers(chosen: Chosen) -> list[ServerDefinition]:
    plan = Plan(chosen.settings, Identity({}), chosen.project, chosen.registries)
    paths = plan.registry_paths
    servers = [server for path in paths for server in load_registry(path, os.environ).servers]
    return [server for server in servers if server.auth == "oauth" and server.url]


async def _login(
    accounts: Accounts, caller: Caller, server: ServerDefinition, options: Namespace
) -> int:
    browser = Loopback(print_only if options.no_browser else open_or_print)
    wanted = await accounts.wanted_by(server)
    scopes = tuple(options.scope.split())
    grant = await accounts.account(server, caller).log_in(wanted, browser, scopes)
    print(f"{server.name}: {_state(grant)}")
    return 0


async def _logout(
    accounts: Accounts, caller: Caller, server: ServerDefinition, options: Namespace
) -> int:
    was_in = await accounts.account(server, caller).log_out()
    print(f"{server.name}: {'logged out' if was_in else 'there was no login'}")
    return 0


def _status(accounts: Accounts, caller: Caller, servers: list[ServerDefinition]) -> int:
    for server in servers:
        print(f"{server.name}: {_state(accounts.account(server, caller).grant)}")
    return 0


def _state(grant: Grant | None) -> str:
    """What may be told of a grant: nothing of the tokens."""
    if grant is None:
        return "not logged in"
    parts = [f"logged in at {grant.issuer}" if grant.issuer else "a token was given"]
    if grant.scopes:
        parts.append(f"for {' '.join(grant.scopes)}")
    if grant.expires is not None:
        ends = datetime.fromtimestamp(grant.expires, UTC).isoformat(timespec="seconds")
        over = "expired" if grant.expired(time.time(), 0) else "until"
        parts.append(f"{over} {ends}{', renewed by itself' if grant.refresh else ''}")
    return ", ".join(parts)
