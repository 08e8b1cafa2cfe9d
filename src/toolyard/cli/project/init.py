"""toolyard init: turn the current folder into a project, or complete one."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace

from toolyard.cli.project.new import finish, ignore, next_steps
from toolyard.cli.project.scaffolding import checked_name, lay_out
from toolyard.sources.project.layout import SERVER_META

# A folder may have these before it becomes a project; .gitignore is completed line by line.
_NOT_OURS = ("README.md", "dot.gitignore")


def add(parser: ArgumentParser) -> None:
    parser.add_argument("--name", help="of the server (default: the name of the folder)")
    parser.add_argument("--no-hello", action="store_true", help="without the tool 'hello'")


def run(options: Namespace) -> int:
    root = os.getcwd()
    is_project = os.path.lexists(os.path.join(root, SERVER_META))
    if not is_project:
        name = checked_name(options.name or os.path.basename(root))
        lay_out("project", root, name, leave=_NOT_OURS, program=options.program)
    finish(root, options)
    ignore(root)
    summary = f"Kept {SERVER_META}; completed {root}" if is_project else f"Made {root} a project"
    print(f"{summary}\n\n{next_steps(options)}")
    return 0
