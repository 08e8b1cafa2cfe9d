"""The words that may stand where the cursor is. No candidates: the shell offers files."""

from __future__ import annotations

from argparse import Action
from collections.abc import Iterable, Sequence
from contextlib import suppress

from toolyard.cli import COMMANDS, parser_of
from toolyard.cli.options import choose
from toolyard.cli.parser import CommandParser
from toolyard.errors import ConfigError

# Commands whose first word names a tool of the project.
NAMING_TOOLS = frozenset({"run-tool"})


def candidates(words: Sequence[str]) -> list[str]:
    """`words` is the command line without the program; the last one is being typed."""
    *before, prefix = words or [""]
    return sorted(word for word in _possible(before, prefix) if word.startswith(prefix))


def _possible(before: Sequence[str], prefix: str) -> Iterable[str]:
    if not before:
        return COMMANDS
    command, *arguments = before
    if command not in COMMANDS:
        return ()
    parser = parser_of(command)
    for word in arguments:
        parser = parser.subcommands().get(word, parser)
    flag = parser.flags().get(before[-1])
    if flag is not None and flag.nargs != 0:
        return _choices(flag)
    if prefix.startswith("-"):
        return parser.flags()
    if parser.subcommands():
        return parser.subcommands()
    return _positional(command, arguments, parser)


def _positional(command: str, arguments: Sequence[str], parser: CommandParser) -> Iterable[str]:
    if command in NAMING_TOOLS and not arguments:
        return _tools_here(command)
    action = parser.positional()
    return _choices(action) if action is not None and not arguments else ()


def _choices(action: Action) -> Iterable[str]:
    return map(str, action.choices or ())


def _tools_here(command: str) -> list[str]:
    """Those of the project that one is in; a project that cannot be read has none to offer."""
    # Only for tools, and a key was pressed: nothing else waits for a scan.
    from toolyard.sources.project.discover.metadata import Metadata  # noqa: PLC0415
    from toolyard.sources.project.discover.scan import quick_scan  # noqa: PLC0415

    with suppress(ConfigError, OSError):
        choice = choose(parser_of(command).parse_args(["any"]))
        if choice.project is not None:
            scan = quick_scan(choice.project, choice.settings, Metadata())
            return [str(tool["name"]) for tool in scan.items["tools"]]
    return []
