"""Everything that is wrong with a registry file, gathered before any of it is said.

What is wrong with one entry disables that entry; what is wrong with the whole refuses the file.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from toolyard.configuration.check import Findings
from toolyard.errors import ConfigError, Problem

# A place within one entry, and the entry itself.
_IN_AN_ENTRY = re.compile(r"(/(?:servers|tools|schemas)/[^/]+)(?:/.*)?", re.DOTALL)


class Report(Findings):
    """`places` leads from pointers into the native form to those of the file as written.

    Its notes are said at debug level.
    """

    def __init__(
        self, file: str, places: Mapping[str, str] | None = None, data: bytes | None = None
    ) -> None:
        super().__init__(file, data)
        self.warnings: list[str] = []
        self._places = dict(places or {})
        self._refused = False
        # What is wrong with each entry, by its pointer into the native form.
        self._entries: dict[str, list[str]] = {}

    def problem(self, pointer: str, message: str) -> None:
        """Of one entry where the pointer leads into one, otherwise of the whole file."""
        entry = _IN_AN_ENTRY.fullmatch(pointer)
        if entry is None:
            self.refuse(pointer, message)
        elif self._add(pointer, message):
            reason = message if pointer == entry[1] else f"{message} ({self.place(pointer)})"
            self._entries.setdefault(entry[1], []).append(reason)

    def refuse(self, pointer: str, message: str) -> None:
        """The file cannot be meant, whatever else is in it."""
        self._refused = True
        self._add(pointer, message)

    def _add(self, pointer: str, message: str) -> bool:
        place = self.place(pointer)
        problem = Problem(self.file, place, message, self.line(place))
        if problem in self.problems:
            return False
        self.problems.append(problem)
        return True

    def reason(self, entry: str) -> str | None:
        """Why this entry cannot be used, in one sentence."""
        return "; ".join(self._entries.get(entry, ())) or None

    @property
    def entries(self) -> Mapping[str, str]:
        """Each entry that cannot be used, and why."""
        return {entry: "; ".join(reasons) for entry, reasons in self._entries.items()}

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
        if self._refused:
            raise ConfigError(self.problems)
