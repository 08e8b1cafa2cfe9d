"""What a source of entries looks like to the keeper."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from toolyard.catalog.entries import Entries


class Source(Protocol):
    """Yields entries. Reading is blocking and cheap enough for the loop, or quick to await."""

    def read(self) -> Entries:
        """The entries of this moment. Never raises for one bad entry: it warns and goes on."""

    async def watch(self, changed: Callable[[], None]) -> None:
        """Call `changed` whenever `read` may answer differently, until cancelled."""
