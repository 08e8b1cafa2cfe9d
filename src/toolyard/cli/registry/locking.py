"""toolyard registry lock, verify: write down what everything is, and say what changed since."""

from __future__ import annotations

import asyncio
import os
import sys
from argparse import ArgumentParser, Namespace

from toolyard.app import App, Plan, lock_path
from toolyard.catalog.entries import Entries
from toolyard.catalog.snapshot import Catalog
from toolyard.cli.output import counted, pretty, print_json
from toolyard.cli.registry.chosen import (
    add_registry,
    opened,
    plan_for,
    registries_of,
    scripts_of,
)
from toolyard.errors import ConfigError
from toolyard.protocol.call import LOCAL
from toolyard.sources.registry.lock import Lock, lock, read_lock, verify


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
    path = lock_path(plan)
    fresh = f"{path}.{os.getpid()}.tmp"
    try:
        with open(fresh, "w", encoding="utf-8") as file:
            file.write(pretty(found.document()) + "\n")
        os.replace(fresh, path)
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
    locked = read_lock(lock_path(plan))
    changes = verify(locked, asyncio.run(_now(plan)))
    if options.json:
        print_json([change._asdict() for change in changes])
    else:
        print("\n".join(map(str, changes)) or "nothing has changed")
    return 1 if changes else 0


def _unseen(app: App) -> list[str]:
    """The servers that would list something to us if we had logged in."""
    logins = app.logins
    personal = registries_of(app).personal.items()
    return [name for name, one in personal if logins is None or logins.login(one, LOCAL) is None]


def entries_in(catalog: Catalog) -> Entries:
    return Entries(
        tools=tuple(catalog.tools.values()),
        resources=tuple(catalog.resources.values()),
        templates=tuple(catalog.templates.values()),
        prompts=tuple(catalog.prompts.values()),
    )


async def _now(plan: Plan) -> Lock:
    """As everything is at this moment: every server is asked, not remembered."""
    async with opened(plan) as app:
        silent = await app.gateway.ask() if app.gateway is not None else {}
        catalog = await app.catalog()
        found = lock(entries_in(catalog), scripts_of(app).tools, registries_of(app).files)
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
        raise ConfigError.at(lock_path(plan), "needs every server to say what it offers")
    return found
