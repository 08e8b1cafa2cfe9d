"""A fair gate: at most so many inside at once, the others in the order they came."""

from __future__ import annotations

import asyncio
from collections import deque


class Gate:
    """Places, and a queue for them."""

    __slots__ = ("_free", "_waiting")

    def __init__(self, size: int) -> None:
        self._free = size
        self._waiting: deque[asyncio.Future[None]] = deque()

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    @property
    def is_open(self) -> bool:
        """Could somebody enter without waiting?"""
        return self._free > 0 and not self._waiting

    async def enter(self) -> None:
        if self._free > 0 and not self._waiting:
            self._free -= 1
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self.leave()  # our turn came while we were giving up
            raise

    def leave(self) -> None:
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)  # the place passes on without becoming free
                return
        self._free += 1
