"""The registry files that a command works on, and everything made from them."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from toolyard.app.build import App, build
from toolyard.app.plan import Plan
from toolyard.cli.choosing import chosen_by, plan_of
from toolyard.cli.terminal.waiting import waiting
from toolyard.errors import ConfigError
from toolyard.sources.project.layout import REGISTRY_FILE, is_project


def plan_for(options: Namespace) -> Plan:
    """A file in a project's folder is laid over that project's scripts, not those of this one."""
    if options.project_root is None and options.registry:
        folder = os.path.dirname(os.path.abspath(options.registry[0]))
        if is_project(folder):
            options.project_root = folder
        else:
            options.path, options.registry = options.registry, []
    choice = chosen_by(options)
    if not choice.registries and choice.project is None:
        raise ConfigError.at(REGISTRY_FILE, "no such file here; name one with --registry FILE")
    return plan_of(options, choice)


@asynccontextmanager
async def opened(plan: Plan) -> AsyncIterator[App]:
    """The whole program but for a transport; servers are started when they are asked."""
    app = build(plan)
    try:
        async with waiting(app.federation.health):
            yield app
    finally:
        await app.close()
