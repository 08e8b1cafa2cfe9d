"""The parser of command lines: argparse, with the word that was probably meant."""

from __future__ import annotations

import os
import re
from argparse import Action, ArgumentParser, HelpFormatter
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

from toolyard.errors import did_you_mean

# Compiled when there is an error to look at: every start passes through here.
_UNKNOWN_FLAGS = r"(?s)unrecognized arguments: (.*)"
_UNKNOWN_CHOICE = r"(argument .*: invalid choice: '(.*)') \(choose from (.*)\)"
_COLUMNS = 80


class Help(HelpFormatter):
    """Knows the width of the terminal without `shutil`, which imports every kind of compression.

    One is made for each flag of each start.
    """

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=_columns() - 2)


def _columns() -> int:
    named = os.environ.get("COLUMNS", "")
    if named.isdecimal() and int(named):
        return int(named)
    try:
        return os.get_terminal_size(1).columns or _COLUMNS
    except OSError:
        return _COLUMNS


class CommandParser(ArgumentParser):
    """Suggests a flag or a subcommand where it was given an unknown one."""

    _words: Sequence[str] = ()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{"formatter_class": Help, **kwargs})

    def error(self, message: str) -> NoReturn:
        super().error(message + self._suggestion(message))

    def _suggestion(self, message: str) -> str:
        choice = re.match(_UNKNOWN_CHOICE, message)
        if choice:
            return did_you_mean(choice[2], re.findall(r"[\w-]+", choice[3]), quote="")
        flags = re.match(_UNKNOWN_FLAGS, message)
        words = flags[1].split() if flags else []
        unknown = next((word for word in words if word.startswith("-")), None)
        if unknown is None:
            return ""
        return did_you_mean(unknown.partition("=")[0], self._flags_in_use(), quote="")

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        self._words = list(args or ())
        return super().parse_args(args, namespace)

    def _flags_in_use(self) -> Iterator[str]:
        """Its own, and those of the subcommand that the words name, which are parsed by it."""
        yield from self.flags()
        for name, parser in self.subcommands().items():
            if name in self._words:
                yield from parser.flags()

    def subcommands(self) -> dict[str, CommandParser]:
        action = self.positional()
        choices = action.choices if action is not None else None
        return choices if isinstance(choices, dict) else {}

    def positional(self) -> Action | None:
        """The first word that is not a flag."""
        return next((action for action in self._actions if not action.option_strings), None)

    def flags(self) -> dict[str, Action]:
        return self._option_string_actions
