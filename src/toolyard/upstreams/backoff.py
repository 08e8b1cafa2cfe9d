"""When a failing upstream may be tried again. Pure: the clock and the dice are handed in."""

from __future__ import annotations

import random
from collections.abc import Callable

FIRST, MOST = 0.5, 30.0


class Backoff:
    """Twice as long after each failure in a row, scattered so that restarts do not align."""

    def __init__(self, dice: Callable[[], float] = random.random) -> None:
        self._dice = dice
        self.failures = 0
        self._until = 0.0

    def worked(self) -> None:
        self.failures = 0
        self._until = 0.0

    def crashed(self, now: float) -> None:
        """It ended after it had worked: the first restart is immediate."""
        self._failed(now, self.failures)

    def refused(self, now: float) -> None:
        """It could not even be started."""
        self._failed(now, self.failures + 1)

    def _failed(self, now: float, steps: int) -> None:
        self.failures += 1
        delay = 0.0 if steps == 0 else min(FIRST * 2 ** min(steps - 1, 10), MOST)
        self._until = now + delay * (0.5 + self._dice() / 2)

    def left(self, now: float) -> float:
        return max(0.0, self._until - now)
