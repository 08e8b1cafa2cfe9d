"""From which level on an upstream logs: for whoever asked for most. Knows no messages."""

from __future__ import annotations

from toolyard.protocol.call import LOG_LEVELS


class LogLevel:
    """The level that a handshake-era upstream was told."""

    def __init__(self) -> None:
        self._level: str | None = None
        self.enough: set[str] = set()  # the levels for which it is known to log enough

    def suffices(self, level: str, *, settable: bool) -> bool:
        """Does it log enough for whoever asked for this level? Also true if it has no levels."""
        if settable and level in LOG_LEVELS and not self._covers(level):
            return False
        self.enough.add(level)
        return True

    def _covers(self, level: str) -> bool:
        own = self._level
        return own is not None and LOG_LEVELS.index(own) <= LOG_LEVELS.index(level)

    def lower_to(self, level: str) -> None:
        self._level = level
