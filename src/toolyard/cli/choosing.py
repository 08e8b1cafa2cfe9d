"""For commands that print something and end: the project that they work on, and its plan."""

from __future__ import annotations

import os
from argparse import Namespace
from typing import TYPE_CHECKING

from toolyard.cli.options import Chosen, choose, identity_of
from toolyard.errors import ConfigError
from toolyard.settings import Settings
from toolyard.sources.project.layout import REGISTRY_FILE, SERVER_META, Project
from toolyard.telemetry import set_up

if TYPE_CHECKING:
    from toolyard.app.plan import Plan


def chosen_by(options: Namespace) -> Chosen:
    """What the command works on. Logs are kept out of the way of its own output."""
    choice = choose(options)
    level = "debug" if choice.settings.debug else options.log_level or "warning"
    set_up("error" if choice.settings.quiet else level, options.log_format)
    return choice


def project_of(choice: Chosen) -> Project:
    """The project, for a command that makes no sense without one."""
    if choice.project is None:
        raise no_project(choice)
    return choice.project


def refuse_nothing(choice: Chosen, another_way: str = ", or --registry FILE") -> None:
    """For a command that needs something to work on: a project, or registry files alone."""
    if choice.project is None and not choice.registries:
        raise no_project(choice, another_way)


def no_project(choice: Chosen, another_way: str = "") -> ConfigError:
    """Where we looked, and what to do; `another_way` is one that only this command has."""
    program = choice.program
    return ConfigError.at(
        "No MCP project found",
        f"there is no {SERVER_META} in {os.getcwd()} or above, and no {REGISTRY_FILE} here\n"
        f"  to make one:  {program} init (here), or {program} new NAME (in a folder of its own)\n"
        f"  to name one:  --project-root DIR, or MCPBASH_PROJECT_ROOT=DIR{another_way}",
    )


def plan_of(options: Namespace, choice: Chosen, settings: Settings | None = None) -> Plan:
    # Most commands build nothing.
    from toolyard.app.plan import Plan  # noqa: PLC0415

    return Plan(
        settings or choice.settings,
        identity_of(choice),
        choice.project,
        choice.registries,
        like_mcp_bash=options.like_mcp_bash,
    )
