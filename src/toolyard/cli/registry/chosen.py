"""The registry files that a command works on, and everything made from them."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from toolyard.app.build import App, build
from toolyard.app.plan import Plan
from toolyard.cli.choosing import chosen_by, plan_of
from toolyard.cli.options import add_project
from toolyard.errors import ConfigError
from toolyard.sources.project.layout import SERVER_META

DEFAULT = "registry.json"


def add_registry(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--registry",
        action="append",
        default=[],
        metavar="FILE",
        help="the registry file; repeatable (default: ./registry.json)",
    )
    add_project(parser)


def plan_for(options: Namespace) -> Plan:
    """A file in a project's folder is laid over that project's scripts."""
    files = options.registry or ([DEFAULT] if os.path.isfile(DEFAULT) else [])
    for path in files:
        if not os.path.isfile(path):
            raise ConfigError.at(path, "no such file")
    if options.project_root is None and files:
        folder = os.path.dirname(os.path.abspath(files[0]))
        if os.path.isfile(os.path.join(folder, SERVER_META)):
            options.project_root = folder
    options.path = files
    choice = chosen_by(options)
    if not files and choice.project is None:
        raise ConfigError.at(DEFAULT, "no such file here; name one with --registry FILE")
    return plan_of(options, choice)


@asynccontextmanager
async def opened(plan: Plan) -> AsyncIterator[App]:
    """The whole program but for a transport; servers are started when they are asked."""
    app = build(plan)
    try:
        yield app
    finally:
        await app.close()
