"""toolyard registry lock and verify: record what everything is, and report what has changed."""

from __future__ import annotations

import asyncio
import sys
from argparse import ArgumentParser, Namespace

from toolyard.app.build import App
from toolyard.app.plan import Plan
from toolyard.catalog.entries import Entries
from toolyard.catalog.snapshot import Catalog
from toolyard.cli.options import add_project
from toolyard.cli.output import counted, pretty, print_json
from toolyard.cli.registry.chosen import opened, plan_for
from toolyard.errors import ConfigError
from toolyard.files.whole import write_whole
from toolyard.protocol.call import LOCAL
from toolyard.protocol.client import ABLE
from toolyard.protocol.guise import guise_of
from toolyard.protocol.revisions import LATEST
from toolyard.sources.registry.lock.lock import Lock, lock, read_lock, verify
from toolyard.upstreams.connections import Downstream


def add(parser: ArgumentParser) -> None:
    parser.epilog = (
        "The lock is registry.lock.json beside the registry file. It holds hashes of the "
        "definition of every tool, prompt, resource and template, of every server's command and "
        "of every tool's script; no values. "
        "'serve --locked' offers only what matches the lock."
    )
    parser.add_argument("--json", action="store_true", help="for programs")
    add_project(parser)


def run_lock(options: Namespace) -> int:
    plan = plan_for(options)
    current = asyncio.run(_now(plan, "made"))
    path = plan.lock_path
    text = pretty(current.document()) + "\n"
    try:
        write_whole(path, text.encode(), 0o644)
    except OSError as error:
        raise ConfigError.at(path, f"cannot be written: {error.strerror}") from None
    report = {"file": path, "servers": len(current.servers), "tools": len(current.tools)}
    if options.json:
        print_json(report)
    else:
        servers, tools = (
            counted(len(current.servers), "server"),
            counted(len(current.tools), "tool"),
        )
        print(f"{path}: {servers}, {tools}")
    return 0


def run_verify(options: Namespace) -> int:
    plan = plan_for(options)
    reference = read_lock(plan.lock_path)
    changes = verify(reference, asyncio.run(_now(plan, "compared")))
    if options.json:
        print_json([change._asdict() for change in changes])
    else:
        print("\n".join(map(str, changes)) or "nothing has changed")
    return 1 if changes else 0


def _without_login(app: App) -> list[str]:
    """The servers that would list something to us if we were logged in."""
    servers = app.federation.registries.by_login.items()
    return [name for name, server in servers if app.logins.login(server, LOCAL) is None]


async def _entries(app: App) -> Entries:
    """What everybody is offered, and what only clients that can be asked are."""
    everybody = await app.catalog()
    await app.federation.list_to(Downstream(LOCAL, guise_of(LATEST, ABLE)))
    return entries_in(everybody, await app.catalog(client=ABLE))


def entries_in(everybody: Catalog, able: Catalog) -> Entries:
    public_tools = {name: tool for name, tool in everybody.tools.items() if tool.listed}
    return Entries(
        tools=tuple({**everybody.tools, **able.tools, **public_tools}.values()),
        resources=tuple({**able.resources, **everybody.resources}.values()),
        templates=tuple({**able.templates, **everybody.templates}.values()),
        prompts=tuple({**able.prompts, **everybody.prompts}.values()),
    )


async def _now(plan: Plan, purpose: str) -> Lock:
    """Everything as it is now: every server is asked, nothing comes from memory."""
    async with opened(plan) as app:
        silent = await app.federation.ask()
        entries = await _entries(app)
        current = lock(entries, app.scripts.source.read().tools, app.federation.registries.files)
        servers = _without_login(app)
    for name in servers:
        print(
            f"server {name} lists its tools only after a login: they are not in the lock "
            f"(log in first: `toolyard auth login {name}`)",
            file=sys.stderr,
        )
    for name, reason in silent.items():
        print(f"server {name} could not be asked: {reason}", file=sys.stderr)
    if silent:
        raise ConfigError.at(plan.lock_path, f"cannot be {purpose} while a server does not answer")
    return current
