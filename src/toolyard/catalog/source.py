"""What a source of entries looks like to the keeper."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from toolyard.catalog.entries import Entries


class Source(Protocol):
    """Where entries come from: a project, registry files and their servers."""

    def read(self) -> Entries:
        """The entries of this moment. Never raises because of one bad entry: that is a warning.

        Called on the loop for the first catalog and in a thread for every later one.
        """

    async def settle(self) -> None:
        """Wait, a few seconds at most, for what the first list should not miss."""

    async def watch(self, changed: Callable[[], None]) -> None:
        """Call `changed` whenever `read` may give something else, until cancelled."""
