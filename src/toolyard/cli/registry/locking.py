"""toolyard registry lock, verify: write down what everything is, and say what changed since."""

from __future__ import annotations

import asyncio
import sys
from argparse import ArgumentParser, Namespace

from toolyard.app.build import App
from toolyard.app.plan import Plan
from toolyard.catalog.entries import Entries
from toolyard.catalog.snapshot import Catalog
from toolyard.cli.output import counted, pretty, print_json
from toolyard.cli.registry.chosen import add_registry, opened, plan_for
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
        "The lock is registry.lock.json beside the registry file. It holds hashes of what is told "
        "of every tool, prompt, resource and template, of every server's command and of every "
        "tool's script; no values. "
        "'serve --locked' offers only what is as the lock has it."
    )
    parser.add_argument("--json", action="store_true", help="for programs")
    add_registry(parser)


def run_lock(options: Namespace) -> int:
    plan = plan_for(options)
    found = asyncio.run(_now(plan))
    path = plan.lock_path
    text = pretty(found.document()) + "\n"
    try:
        write_whole(path, text.encode(), 0o644)
    except OSError as error:
        raise ConfigError.at(path, f"cannot be written: {error.strerror}") from None
    said = {"file": path, "servers": len(found.servers), "tools": len(found.tools)}
    if options.json:
        print_json(said)
    else:
        servers, tools = counted(len(found.servers), "server"), counted(len(found.tools), "tool")
        print(f"{path}: {servers}, {tools}")
    return 0


def run_verify(options: Namespace) -> int:
    plan = plan_for(options)
    locked = read_lock(plan.lock_path)
    changes = verify(locked, asyncio.run(_now(plan)))
    if options.json:
        print_json([change._asdict() for change in changes])
    else:
        print("\n".join(map(str, changes)) or "nothing has changed")
    return 1 if changes else 0


def _unseen(app: App) -> list[str]:
    """The servers that would list something to us if we had logged in."""
    servers = app.federation.registries.by_login.items()
    return [name for name, server in servers if app.logins.login(server, LOCAL) is None]


async def _entries(app: App) -> Entries:
    """Those of everybody, and those that are listed only to clients that can be asked."""
    everybody = await app.catalog()
    await app.federation.list_to(Downstream(LOCAL, guise_of(LATEST, ABLE)))
    return entries_in(everybody, await app.catalog(client=ABLE))


def entries_in(everybody: Catalog, able: Catalog) -> Entries:
    offered = {name: tool for name, tool in everybody.tools.items() if tool.listed}
    return Entries(
        tools=tuple({**everybody.tools, **able.tools, **offered}.values()),
        resources=tuple({**able.resources, **everybody.resources}.values()),
        templates=tuple({**able.templates, **everybody.templates}.values()),
        prompts=tuple({**able.prompts, **everybody.prompts}.values()),
    )


async def _now(plan: Plan) -> Lock:
    """As everything is at this moment: every server is asked, not remembered."""
    async with opened(plan) as app:
        silent = await app.federation.ask()
        entries = await _entries(app)
        found = lock(entries, app.scripts.source.read().tools, app.federation.registries.files)
        unseen = _unseen(app)
    for name in unseen:
        print(
            f"server {name} lists its tools to whoever has logged in: "
            f"those are not in the lock (`toolyard auth login {name}` first)",
            file=sys.stderr,
        )
    for name, reason in silent.items():
        print(f"server {name} could not be asked: {reason}", file=sys.stderr)
    if silent:
        raise ConfigError.at(plan.lock_path, "needs every server to say what it offers")
    return found
