"""toolyard new: a project in a folder of its own, which can be served at once."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace

from toolyard.cli.project.scaffolding import (
    checked_name,
    lay_out,
    make_folder,
    template_lines,
    write_file,
)
from toolyard.errors import ConfigError

HELLO = "hello"
IGNORE_FILE = ".gitignore"


def add(parser: ArgumentParser) -> None:
    parser.add_argument("name", help="of the project and of its folder")
    parser.add_argument("--no-hello", action="store_true", help="without the tool 'hello'")


def run(options: Namespace) -> int:
    name = checked_name(options.name)
    root = os.path.abspath(name)
    if os.path.lexists(root):
        raise ConfigError.at(root, "already exists; 'init' turns a folder into a project")
    lay_out("project", root, name, program=options.program)
    finish(root, options)
    print(f"Made the project {name} in {root}\n\n  cd {name}\n{next_steps(options)}")
    return 0


def finish(root: str, options: Namespace) -> None:
    """Make the folders that people look for, and a first tool."""
    for folder in ("tools", "resources", "prompts"):
        make_folder(os.path.join(root, folder))
    hello = os.path.join(root, "tools", HELLO)
    if not options.no_hello and not os.path.lexists(hello):
        lay_out("tool", hello, HELLO, program=options.program)


def ignore(root: str) -> None:
    """Tell git to ignore what need not be kept; the other lines of its file stay."""
    path = os.path.join(root, IGNORE_FILE)
    lines = template_lines("project", f"dot{IGNORE_FILE}")
    if not os.path.lexists(path):
        write_file(path, "".join(f"{line}\n" for line in lines))
        return
    with open(path, encoding="utf-8", errors="surrogateescape") as stream:
        content = stream.read()
    present = {line.strip() for line in content.splitlines()}
    missing = [line for line in lines if line not in present and not line.startswith("#")]
    if missing:
        gap = "" if not content or content.endswith("\n") else "\n"
        with open(path, "a", encoding="utf-8") as stream:
            stream.write(gap + "".join(f"{line}\n" for line in missing))


def next_steps(options: Namespace) -> str:
    program = options.program
    call = "" if options.no_hello else f"  {run_line(options, HELLO)}\n"
    return f"{call}  {program} scaffold tool NAME\n  {program} config --client claude-desktop"


def run_line(options: Namespace, tool: str) -> str:
    """What to type to call a tool; mcp-bash allows none by default."""
    allow = " --allow-self" if options.like_mcp_bash else ""
    return f"{options.program} run-tool {tool}{allow}"
