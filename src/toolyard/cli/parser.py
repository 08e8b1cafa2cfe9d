"""The parser of command lines: argparse, with the word that was probably meant."""

from __future__ import annotations

import re
from argparse import Action, ArgumentParser
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

from toolyard.errors import did_you_mean

_UNKNOWN_FLAGS = re.compile(r"unrecognized arguments: (.*)", re.DOTALL)
_UNKNOWN_CHOICE = re.compile(r"(argument .*: invalid choice: '(.*)') \(choose from (.*)\)")


class CommandParser(ArgumentParser):
    """Suggests a flag or a subcommand where it was given an unknown one."""

    _words: Sequence[str] = ()

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
