"""toolyard registry refresh and status: the files in .registry, the project's cache."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace

import orjson

from toolyard.cli.choosing import chosen_by, project_of
from toolyard.cli.options import add_project
from toolyard.errors import ConfigError
from toolyard.sources.project.cache.commands import is_ok, refresh, status
from toolyard.sources.project.running import json_tool


def add_refresh(parser: ArgumentParser) -> None:
    parser.add_argument("--no-notify", action="store_true", help="accepted; it never notifies")
    parser.add_argument("--quiet", action="store_true", help="print nothing unless it fails")
    parser.add_argument("--filter", metavar="PATH", default="", help="scan below PATH only")
    add_project(parser)


def run_refresh(options: Namespace) -> int:
    choice = chosen_by(options)
    project = project_of(choice)
    report = refresh(project, choice.settings, _below(options.filter, project.root))
    if not (options.quiet and is_ok(report)):
        print(orjson.dumps(report).decode())
    return 0 if is_ok(report) else 1


def run_status(options: Namespace) -> int:
    choice = chosen_by(options)
    report = status(project_of(choice), choice.settings)
    print(orjson.dumps({"jsonTool": json_tool(choice.settings)[0], **report}).decode())
    return 0


def _below(path: str, root: str) -> str:
    if not path:
        return ""
    below = os.path.normpath(os.path.join(root, path))
    if not os.path.exists(below):
        raise ConfigError.at(path, "no such folder or file in the project")
    return below
