"""toolyard auth: log in to a registry's OAuth servers, see the logins, log out."""

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
from toolyard.access.oauth.issuer.metadata import is_web_url
from toolyard.app.access import opened_accounts
from toolyard.app.plan import Plan
from toolyard.cli.options import Chosen, add_project, choose
from toolyard.errors import ConfigError, UpstreamError
from toolyard.protocol.call import Caller
from toolyard.protocol.identity import Identity
from toolyard.sources.registry.format.load import load_registry
from toolyard.upstreams.definition import ServerDefinition


def add(parser: ArgumentParser) -> None:
    parser.add_argument("action", choices=("login", "status", "logout"))
    parser.add_argument("server", nargs="?", help="its name in the registry, or its URL")
    parser.add_argument("path", nargs="*", help="registry files that name it")
    parser.add_argument("--scope", default="", help="scopes to ask for beside those it needs")
    parser.add_argument(
        "--no-browser", action="store_true", help="print the link instead of opening a browser"
    )
    parser.add_argument(
        "--caller", default="local", help="whose login, by the caller's name in the audit log"
    )
    add_project(parser)


def run(options: Namespace) -> int:
    if options.server is None and options.action != "status":
        raise ConfigError.at(options.action, "which server? give its name or its URL")
    choice = _choice(options)
    servers = _servers(options.server, choice)
    try:
        return asyncio.run(_run(options, choice, servers))
    except OAuthError as error:
        print(f"{servers[0].name}: {error}", file=sys.stderr)
        return 1
    except UpstreamError as error:
        print(error, file=sys.stderr)
        return 1


async def _run(options: Namespace, choice: Chosen, servers: list[ServerDefinition]) -> int:
    caller = Caller(options.caller, options.caller)
    async with opened_accounts(choice.settings) as accounts:
        if options.action == "status":
            return await _status(accounts, caller, servers)
        work = _login if options.action == "login" else _logout
        return await work(accounts, caller, servers[0], options)


def _choice(options: Namespace) -> Chosen:
    """In `status FILE`, the first word is not a server."""
    if options.server is not None and os.path.exists(options.server):
        options.path, options.server = [options.server, *options.path], None
    return choose(options)


def _servers(name: str | None, choice: Chosen) -> list[ServerDefinition]:
    servers = _oauth_servers(choice)
    if name is None:
        return servers
    matches = [server for server in servers if name in (server.name, server.url)]
    if matches:
        return matches[:1]
    if is_web_url(name):
        return [ServerDefinition(name, url=name, auth="oauth")]
    hint = ", ".join(server.name for server in servers) or "none; give a registry file or a URL"
    raise ConfigError.at(name, f"no OAuth server of that name (known: {hint})")


def _oauth_servers(choice: Chosen) -> list[ServerDefinition]:
    plan = Plan(choice.settings, Identity({}), choice.project, choice.registries)
    paths = plan.registry_paths
    servers = [server for path in paths for server in load_registry(path, os.environ).servers]
    return [server for server in servers if server.auth == "oauth" and server.url]


async def _login(
    accounts: Accounts, caller: Caller, server: ServerDefinition, options: Namespace
) -> int:
    browser = Loopback(print_only if options.no_browser else open_or_print)
    challenge = await accounts.wanted_by(server)
    scopes = tuple(options.scope.split())
    grant = await accounts.account(server, caller).log_in(challenge, browser, scopes)
    print(f"{server.name}: {_state(grant)}")
    return 0


async def _logout(
    accounts: Accounts, caller: Caller, server: ServerDefinition, options: Namespace
) -> int:
    was_in = await accounts.account(server, caller).log_out()
    print(f"{server.name}: {'logged out' if was_in else 'there was no login'}")
    return 0


async def _status(accounts: Accounts, caller: Caller, servers: list[ServerDefinition]) -> int:
    for server in servers:
        account = accounts.account(server, caller)
        await account.look()
        print(f"{server.name}: {_state(account.grant)}")
    return 0


def _state(grant: Grant | None) -> str:
    """A grant in words, without its tokens."""
    if grant is None:
        return "not logged in"
    parts = [f"logged in at {grant.issuer}" if grant.issuer else "has a token"]
    if grant.scopes:
        parts.append(f"for {' '.join(grant.scopes)}")
    if grant.expires is not None:
        ends = datetime.fromtimestamp(grant.expires, UTC).isoformat(timespec="seconds")
        over = "expired" if grant.expired(time.time(), 0) else "until"
        parts.append(f"{over} {ends}{', renewed automatically' if grant.refresh else ''}")
    return ", ".join(parts)
