"""Which project a command works on, for commands that print something and end."""

from __future__ import annotations

from argparse import Namespace

from toolyard.cli.options import Chosen, choose
from toolyard.errors import ConfigError
from toolyard.sources.project.layout import SERVER_META, Project
from toolyard.telemetry import set_up


def chosen_by(options: Namespace) -> Chosen:
    """What the command works on, with logs that stay out of the way of its own output."""
    chosen = choose(options)
    level = "debug" if chosen.settings.debug else options.log_level or "warning"
    set_up("error" if chosen.settings.quiet else level, options.log_format)
    return chosen


def project_of(chosen: Chosen) -> Project:
    """The project, for a command that makes no sense without one."""
    if chosen.project is None:
        raise ConfigError.at(
            "no project",
            f"there is no {SERVER_META} here or above; name the folder with --project-root, "
            "or make a project with 'toolyard new NAME'",
        )
    return chosen.project
