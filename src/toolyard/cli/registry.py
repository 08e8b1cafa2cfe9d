"""toolyard registry: write the files in .registry anew, or say what is in them."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace

import orjson

from toolyard.app import json_tool
from toolyard.cli.choosing import chosen_by, project_of
from toolyard.cli.options import add_project
from toolyard.errors import ConfigError
from toolyard.sources.project.commands import is_ok, refresh, status


def add(parser: ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True, metavar="refresh|status")
    refresh = actions.add_parser(
        "refresh",
        help="scan the project and write .registry/*.json",
        description="Scan the project, write .registry/*.json and print what was found. "
        "A running server notices by itself, so nobody has to be told.",
    )
    refresh.add_argument("--no-notify", action="store_true", help="accepted, and always so")
    refresh.add_argument("--quiet", action="store_true", help="print nothing unless it fails")
    refresh.add_argument("--filter", metavar="PATH", default="", help="scan below PATH only")
    add_project(refresh)
    status = actions.add_parser(
        "status",
        help="say what the files hold",
        description="Print what is in .registry/*.json, without scanning anything.",
    )
    add_project(status)


def run(options: Namespace) -> int:
    chosen = chosen_by(options)
    project, settings = project_of(chosen), chosen.settings
    if options.action == "status":
        told = status(project, settings)
        print(orjson.dumps({"jsonTool": json_tool(settings)[0], **told}).decode())
        return 0
    done = refresh(project, settings, _below(options.filter, project.root))
    if not (options.quiet and is_ok(done)):
        print(orjson.dumps(done).decode())
    return 0 if is_ok(done) else 1


def _below(path: str, root: str) -> str:
    if not path:
        return ""
    below = os.path.normpath(os.path.join(root, path))
    if not os.path.exists(below):
        raise ConfigError.at(path, "no such folder or file in the project")
    return below
