"""The body of a request while it arrives, as ASGI's `receive`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, MutableMapping
from typing import Any


class Body:
    """`read_on` lets the connection read more; `go_ahead` tells a client that waits for it.

    Some bodies are known when they begin: `whole` is all of it.
    """

    __slots__ = (
        "_arrived",
        "_buffered",
        "_chunks",
        "_read_on",
        "_taken",
        "go_ahead",
        "gone",
        "whole",
    )

    def __init__(self, read_on: Callable[[], None], whole: bytes | None = None) -> None:
        self._read_on = read_on
        self.go_ahead: Callable[[], None] | None = None
        self._chunks: list[bytes] = [] if whole is None else [whole]
        self._buffered = 0
        self._taken = False
        self._arrived: asyncio.Future[None] | None = None
        self.whole = whole is not None
        self.gone = False  # the client is

    # -- for the connection ------------------------------------------------------------

    def feed(self, chunk: bytes) -> int:
        """How much is waiting now."""
        self._chunks.append(chunk)
        self._buffered += len(chunk)
        self._notify()
        return self._buffered

    def complete(self) -> None:
        self.whole = True
        self._notify()

    def lost(self) -> None:
        self.gone = True
        self._notify()

    def _notify(self) -> None:
        if self._arrived is not None and not self._arrived.done():
            self._arrived.set_result(None)

    # -- for the app -------------------------------------------------------------------

    async def __call__(self) -> MutableMapping[str, Any]:
        """The body as it comes; once it was taken, the end of the connection."""
        while not self.gone:
            if not self._taken and (self._chunks or self.whole):
                return {"type": "http.request", "body": self._take(), "more_body": not self.whole}
            if self.go_ahead is not None:
                self.go_ahead()
                self.go_ahead = None
            await self._wait()
        return {"type": "http.disconnect"}

    def at_hand(self) -> bytes | None:
        """All of it, if all of it is here."""
        return self._take() if self.whole and not self._taken and not self.gone else None

    def _take(self) -> bytes:
        chunks, self._chunks, self._buffered = self._chunks, [], 0
        self._taken = self.whole
        self._read_on()
        return chunks[0] if len(chunks) == 1 else b"".join(chunks)

    async def _wait(self) -> None:
        if self._arrived is None or self._arrived.done():
            self._arrived = asyncio.get_running_loop().create_future()
        await self._arrived
