"""toolyard init: make the folder that you are in a project."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace

from toolyard.cli.new import finish, next_steps
from toolyard.cli.scaffolding import checked_name, lay_out
from toolyard.errors import ConfigError
from toolyard.sources.project.layout import SERVER_META

# What a folder may well have before it becomes a project.
_KEPT = ("README.md", "dot.gitignore")


def add(parser: ArgumentParser) -> None:
    parser.add_argument("--name", help="of the server (default: the name of the folder)")
    parser.add_argument("--no-hello", action="store_true", help="without the tool 'hello'")


def run(options: Namespace) -> int:
    root = os.getcwd()
    if os.path.lexists(os.path.join(root, SERVER_META)):
        raise ConfigError.at(os.path.join(root, SERVER_META), "this is a project already")
    name = checked_name(options.name or os.path.basename(root))
    has_ignore = os.path.lexists(os.path.join(root, ".gitignore"))
    lay_out("project", root, name, leave=_KEPT if has_ignore else _KEPT[:1])
    finish(root, hello=not options.no_hello)
    print(f"Made {root} a project\n\n{next_steps(options)}")
    return 0
