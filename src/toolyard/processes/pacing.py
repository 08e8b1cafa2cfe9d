"""How fast something may come: a rate, and how much of it at once. Knows nothing about messages."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

# A message counts as one, and as one more for each of these bytes.
BYTES_A_UNIT = 8192
# How many seconds' worth may come at once.
BURST = 5.0


class Pace:
    """Room that fills at a rate, up to a burst. `take` may overdraw it, `admits` does not."""

    __slots__ = ("_at", "_clock", "_left", "_most", "_rate", "dropped")

    def __init__(self, rate: float, clock: Callable[[], float] = monotonic) -> None:
        self._rate = rate
        self._most = self._left = rate * BURST
        self._clock = clock
        self._at = clock()
        self.dropped = 0

    def take(self, units: float = 1.0) -> float:
        """Take it in any case; the seconds until there is room again, 0.0 where there is."""
        self._refill()
        self._left -= units
        return -self._left / self._rate if self._left < 0 else 0.0

    def admits(self, units: float = 1.0) -> bool:
        """Take it if there is room, else count it as dropped."""
        self._refill()
        if self._left < units:
            self.dropped += 1
            return False
        self._left -= units
        return True

    def _refill(self) -> None:
        now = self._clock()
        self._left = min(self._most, self._left + (now - self._at) * self._rate)
        self._at = now


def units_of(size: int) -> float:
    return 1.0 + size // BYTES_A_UNIT
