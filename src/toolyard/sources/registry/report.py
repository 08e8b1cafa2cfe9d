"""Everything that is wrong with a registry file, gathered before any of it is said."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping

from toolyard.errors import ConfigError, Problem


class Report:
    """`places` leads from pointers into the native form to those of the file as written."""

    def __init__(self, file: str, places: Mapping[str, str] | None = None) -> None:
        self.file = file
        self.problems: list[Problem] = []
        self.warnings: list[str] = []
        # Said at debug level: what was ignored.
        self.notes: list[str] = []
        self._places = dict(places or {})

    def problem(self, pointer: str, message: str) -> None:
        found = Problem(self.file, self.place(pointer), message)
        if found not in self.problems:
            self.problems.append(found)

    def warn(self, pointer: str, message: str) -> None:
        self.warnings.append(f"{self.file}#{self.place(pointer)}: {message}")

    def note(self, pointer: str, message: str) -> None:
        self.notes.append(f"{self.file}#{self.place(pointer)}: {message}")

    def place(self, pointer: str) -> str:
        """The pointer in the file as written: the longest known beginning is replaced."""
        begin = pointer
        while begin:
            if begin in self._places:
                return self._places[begin] + pointer[len(begin) :]
            begin = begin.rpartition("/")[0]
        return pointer

    def close(self) -> None:
        if self.problems:
            raise ConfigError(self.problems)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The remedy for a name that is nearly right, as the end of a message."""
    close = difflib.get_close_matches(name, list(known), n=1)
    return f' (did you mean "{close[0]}"?)' if close else ""
