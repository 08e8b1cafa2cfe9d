"""The parser of command lines: argparse, with the word that was probably meant."""

from __future__ import annotations

import re
from argparse import Action, ArgumentParser
from collections.abc import Iterator
from typing import NoReturn

from toolyard.errors import did_you_mean

_UNKNOWN_FLAGS = re.compile(r"unrecognized arguments: (.*)", re.DOTALL)
_UNKNOWN_CHOICE = re.compile(r"(argument .*: invalid choice: '(.*)') \(choose from (.*)\)")


class CommandParser(ArgumentParser):
    """Suggests a flag or a subcommand where it was given an unknown one."""

    def error(self, message: str) -> NoReturn:
        super().error(message + self._suggestion(message))

    def _suggestion(self, message: str) -> str:
        choice = _UNKNOWN_CHOICE.match(message)
        if choice:
            return did_you_mean(choice[2], re.findall(r"[\w-]+", choice[3]), quote="")
        flags = _UNKNOWN_FLAGS.match(message)
        words = flags[1].split() if flags else []
        unknown = next((word for word in words if word.startswith("-")), None)
        if unknown is None:
            return ""
        known = [flag for parser in self._with_subcommands() for flag in parser.flags()]
        return did_you_mean(unknown.partition("=")[0], known, quote="")

    def _with_subcommands(self) -> Iterator[CommandParser]:
        yield self
        for parser in self.subcommands().values():
            yield from parser._with_subcommands()

    def subcommands(self) -> dict[str, CommandParser]:
        action = self.positional()
        choices = action.choices if action is not None else None
        return choices if isinstance(choices, dict) else {}

    def positional(self) -> Action | None:
        """The first word that is not a flag."""
        return next((action for action in self._actions if not action.option_strings), None)

    def flags(self) -> dict[str, Action]:
        return self._option_string_actions
