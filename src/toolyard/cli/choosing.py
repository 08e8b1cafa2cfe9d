"""What a command works on that prints something and ends: its project, and the plan of it."""

from __future__ import annotations

import os
from argparse import Namespace
from typing import TYPE_CHECKING

from toolyard.cli.options import Chosen, choose, identity_of
from toolyard.errors import ConfigError
from toolyard.settings import Settings
from toolyard.sources.project.layout import SERVER_META, Project
from toolyard.telemetry import set_up

if TYPE_CHECKING:
    from toolyard.app.plan import Plan


def chosen_by(options: Namespace) -> Chosen:
    """What the command works on, with logs that stay out of the way of its own output."""
    chosen = choose(options)
    level = "debug" if chosen.settings.debug else options.log_level or "warning"
    set_up("error" if chosen.settings.quiet else level, options.log_format)
    return chosen


def project_of(chosen: Chosen) -> Project:
    """The project, for a command that makes no sense without one."""
    if chosen.project is None:
        raise no_project(chosen)
    return chosen.project


def no_project(chosen: Chosen, other: str = "") -> ConfigError:
    """Where it was looked for, and the ways out; `other` is one that only this command has."""
    program = chosen.program
    return ConfigError.at(
        "No MCP project found",
        f"there is no {SERVER_META} in {os.getcwd()} or above\n"
        f"  to make one:  {program} init (here), or {program} new NAME (in a folder of its own)\n"
        f"  to name one:  --project-root DIR, or MCPBASH_PROJECT_ROOT=DIR{other}",
    )


def plan_of(options: Namespace, chosen: Chosen, settings: Settings | None = None) -> Plan:
    # Most commands build nothing.
    from toolyard.app.plan import Plan  # noqa: PLC0415

    return Plan(
        settings or chosen.settings,
        identity_of(chosen),
        chosen.project,
        chosen.registries,
        like_mcp_bash=options.like_mcp_bash,
    )
