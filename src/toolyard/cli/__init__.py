"""The commands. This module only finds the right one: each is imported when it is asked for."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from toolyard import MCP_BASH_VERSION, __version__
from toolyard.cli.outcome import WRONG, outcome
from toolyard.errors import did_you_mean

if TYPE_CHECKING:
    from toolyard.cli.parser import CommandParser


class ProgramName(NamedTuple):
    """The name we were called by: the one place that knows what depends on it.

    Commands get `options.program`, the name to print, and `options.like_mcp_bash`; whatever
    serves gets the latter in its plan, and hands it on as narrow values.
    """

    name: str
    version: str
    # Behave as users of mcp-bash expect.
    like_mcp_bash: bool = False


TOOLYARD = ProgramName("toolyard", __version__)
MCP_BASH = ProgramName(
    "mcp-bash", f"{MCP_BASH_VERSION} (toolyard {__version__})", like_mcp_bash=True
)

# Command -> (module, one line of help). The module has `add(parser)` and `run(options)`.
COMMANDS = {
    "serve": ("toolyard.cli.serve", "serve a project over stdio or HTTP"),
    "debug": ("toolyard.cli.debug", "serve, and write every message to a file"),
    "list": ("toolyard.cli.listing", "list what a project offers"),
    "run-tool": ("toolyard.cli.client.run_tool", "call one tool and print its result"),
    "tasks": ("toolyard.cli.tasks", "list, show, cancel and wait for tasks"),
    "request": ("toolyard.cli.client.request", "make one request of any kind and print its result"),
    "registry": ("toolyard.cli.registry", "check, show, explain, convert and lock registry files"),
    "inspect": ("toolyard.cli.client.inspect", "show what any MCP server offers"),
    "page": ("toolyard.cli.page", "show another running gateway in the page"),
    "call": ("toolyard.cli.client.call", "call one tool of any MCP server and print its result"),
    "new": ("toolyard.cli.project.new", "make a project in a folder of its own"),
    "init": ("toolyard.cli.project.init", "turn the current folder into a project"),
    "scaffold": (
        "toolyard.cli.project.scaffold",
        "add a tool, resource, prompt, page or test",
    ),
    "validate": ("toolyard.cli.project.validate", "say what is wrong with a project"),
    "schema": ("toolyard.cli.schema", "print the JSON Schema of a configuration file"),
    "config": ("toolyard.cli.project.config", "show what to put into a client's settings"),
    "link": ("toolyard.cli.linking.link", "put this server into the files of clients"),
    "import": (
        "toolyard.cli.linking.importing",
        "take the servers of clients into a registry",
    ),
    "unlink": ("toolyard.cli.linking.unlink", "take it out of them again"),
    "doctor": ("toolyard.cli.project.doctor", "check that everything needed for serving is there"),
    "bundle": ("toolyard.cli.bundling.bundle", "pack a project for desktop clients"),
    "health": ("toolyard.cli.project.health", "say whether a project can be served"),
    "auth": ("toolyard.cli.access.auth", "log in to a registry's OAuth servers, and out again"),
    "token": ("toolyard.cli.access.token", "make tokens for callers of the HTTP server"),
    "completion": ("toolyard.cli.completion", "print what a shell needs to complete commands"),
}
# Flags that stand in for a command.
ALIASES = {"--health": "health", "--ready": "health", "ready": "health"}


def main(argv: list[str] | None = None) -> int:
    """The command `toolyard`."""
    arguments = sys.argv[1:] if argv is None else argv
    return outcome(TOOLYARD.name, lambda: _run(TOOLYARD, arguments))


def mcp_bash(argv: list[str] | None = None) -> int:
    """The command `mcp-bash`, with the defaults that its users know."""
    arguments = sys.argv[1:] if argv is None else argv
    return outcome(MCP_BASH.name, lambda: _run(MCP_BASH, arguments or ["serve"]))


def _run(program: ProgramName, argv: list[str]) -> int:
    if argv and argv[0] in ("--version", "-v", "-V", "version"):
        print(f"{program.name} {program.version}")
        return 0
    if not argv or argv[0] in ("--help", "-h", "help"):
        print(_help(program.name))
        return 0 if argv else WRONG
    name = ALIASES.get(argv[0], argv[0])
    if name not in COMMANDS:
        near = did_you_mean(argv[0], COMMANDS, quote="'")
        print(f"Unknown command: {argv[0]}{near}\n\n{_help(program.name)}", file=sys.stderr)
        return WRONG
    return _run_command(program, name, argv[1:])


def _run_command(program: ProgramName, name: str, argv: list[str]) -> int:
    options = parser_of(name, program).parse_args(argv)
    return int(_module_of(name).run(options))


def parser_of(name: str, program: ProgramName = TOOLYARD) -> CommandParser:
    """The parser of a command, with all that it has a say in."""
    # Only the command that runs is imported, so that a start pays for nothing else.
    from toolyard.cli.parser import CommandParser  # noqa: PLC0415

    help_line = COMMANDS[name][1]
    sentence = help_line[0].upper() + help_line[1:]
    parser = CommandParser(f"{program.name} {name}", description=f"{sentence}.")
    parser.set_defaults(program=program.name, like_mcp_bash=program.like_mcp_bash)
    _module_of(name).add(parser)
    return parser


def _module_of(name: str) -> Any:
    from importlib import import_module  # noqa: PLC0415

    return import_module(COMMANDS[name][0])


def _help(program: str) -> str:
    width = max(map(len, COMMANDS))
    lines = "\n".join(f"  {name:{width}}  {line}" for name, (_, line) in COMMANDS.items())
    return (
        f"usage: {program} COMMAND ...\n\n"
        "Serve a folder of executables, and other MCP servers, as one MCP server.\n\n"
        f"commands:\n{lines}\n\n"
        f"'{program} COMMAND --help' says more about a command."
    )
