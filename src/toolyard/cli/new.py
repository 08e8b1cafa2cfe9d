"""toolyard new: a project in a folder of its own, which can be served at once."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace

from toolyard.cli.scaffolding import checked_name, lay_out, make_folder
from toolyard.errors import ConfigError

HELLO = "hello"


def add(parser: ArgumentParser) -> None:
    parser.add_argument("name", help="of the project and of its folder")
    parser.add_argument("--no-hello", action="store_true", help="without the tool 'hello'")


def run(options: Namespace) -> int:
    name = checked_name(options.name)
    root = os.path.abspath(name)
    if os.path.lexists(root):
        raise ConfigError.at(root, "already exists; 'init' makes a project of a folder")
    lay_out("project", root, name)
    finish(root, hello=not options.no_hello)
    print(f"Made the project {name} in {root}\n\n  cd {name}\n{next_steps(options)}")
    return 0


def finish(root: str, *, hello: bool) -> None:
    """The folders that people look for, and a first tool."""
    for folder in ("tools", "resources", "prompts"):
        make_folder(os.path.join(root, folder))
    if hello and not os.path.lexists(os.path.join(root, "tools", HELLO)):
        lay_out("tool", os.path.join(root, "tools", HELLO), HELLO)


def next_steps(options: Namespace) -> str:
    program = options.program
    call = "" if options.no_hello else f"  {run_line(options, HELLO)}\n"
    return f"{call}  {program} scaffold tool NAME\n  {program} config --client claude-desktop"


def run_line(options: Namespace, tool: str) -> str:
    """What to type to call a tool; mcp-bash allows none by itself."""
    allow = " --allow-self" if options.like_mcp_bash else ""
    return f"{options.program} run-tool {tool}{allow}"
