"""toolyard registry: show, check, explain, convert and lock registry files."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from typing import NamedTuple

from toolyard.cli.options import add_project
from toolyard.cli.registry import cache, check, convert, explain, locking, show


class Action(NamedTuple):
    """A subcommand of `registry`."""

    add: Callable[[ArgumentParser], None]
    run: Callable[[Namespace], int]
    help: str
    description: str = ""


ACTIONS = {
    "check": Action(check.add, check.run, "report everything that is wrong with registry files"),
    "show": Action(show.add, show.run, "show effective tools, and where each part comes from"),
    "explain": Action(explain.add, explain.run, "call a tool and show each stage of the call"),
    "convert": Action(convert.add, convert.run, "print a registry file in another format"),
    "lock": Action(locking.add, locking.run_lock, "record what every tool is now"),
    "verify": Action(locking.add, locking.run_verify, "report what has changed since the lock"),
    "refresh": Action(
        cache.add_refresh,
        cache.run_refresh,
        "scan the project and write .registry/*.json",
        "Scan the project, write .registry/*.json and print what was found. "
        "A running server notices the change by itself.",
    ),
    "status": Action(
        add_project,
        cache.run_status,
        "print what the files in .registry hold",
        "Print what is in .registry/*.json, without scanning anything.",
    ),
}


def add(parser: ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True, metavar="|".join(ACTIONS))
    for name, action in ACTIONS.items():
        description = action.description or f"{action.help.capitalize()}."
        action.add(actions.add_parser(name, help=action.help, description=description))


def run(options: Namespace) -> int:
    return ACTIONS[options.action].run(options)
