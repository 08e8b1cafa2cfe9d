"""How others look on while results are made from those of other tools."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol

from toolyard.protocol.call import Call, Result


class Onlooker(Protocol):
    """Does what it is given to do, and looks on meanwhile."""

    def projection(self, call: Call, result: Result, make: Callable[[Result], Result]) -> Result:
        """A result becomes what its tool promises."""

    def composition(self, call: Call, run: Callable[[], Awaitable[Result]]) -> Awaitable[Result]:
        """Several tools are called for one."""

    def step(self, result: Result) -> None:
        """This is what one of them answered."""
