"""The stages that a virtual tool's call went through, for `explain`. Knows nothing of tools."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from toolyard.protocol.call import Json
from toolyard.virtual.codec import dumps


class Stage(NamedTuple):
    name: str
    value: Json
    size: int  # bytes of the value as JSON
    seconds: float  # since the stage before


class Stages:
    """Records each stage of one call."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self.clock = clock
        self._previous = clock()
        self.marks: list[Stage] = []

    def mark(self, name: str, value: Json) -> None:
        """A stage of the call itself: it took the time since the stage before."""
        self.note(name, value, self.clock() - self._previous)
        self._previous = self.clock()

    def note(self, name: str, value: Json, seconds: float = 0.0) -> None:
        """A step within a stage, which may run beside others."""
        self.marks.append(Stage(name, value, len(dumps(value).encode()), seconds))
