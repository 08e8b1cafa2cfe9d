"""A client on pipes that does not read its answers: its requests wait until it does."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Generic, TypeVar

from toolyard.processes.descriptors import LineWriter
from toolyard.telemetry import logger

log = logger("stdio")
Line = TypeVar("Line")
MOST_UNREAD = 16 * 1024 * 1024
# What may be left unsaid to somebody who does not listen.
_REPORTS = (
    b'{"jsonrpc":"2.0","method":"notifications/progress"',
    b'{"jsonrpc":"2.0","method":"notifications/message"',
)


class Unread(Generic[Line]):
    """`listen` is told whether the client's requests may be read on."""

    def __init__(
        self,
        writer: LineWriter,
        most: int,
        take: Callable[[Line], None],
        listen: Callable[[bool], None],
    ) -> None:
        self._writer = writer
        self._most = most
        self._take = take
        self._listen = listen
        self._held: deque[Line] = deque()
        self.hold = self._held.append  # a line that has been read
        self.room = asyncio.Event()
        self.room.set()
        writer.on_relief = self._relieved

    def write(self, message: bytes) -> None:
        if not self.room.is_set() and message.startswith(_REPORTS):
            return
        self._writer.write(message)
        if self._writer.queued > self._most and self.room.is_set():
            log.warning("the client does not read its answers: its requests wait until it does")
            self.room.clear()
            self._listen(False)

    def take(self) -> None:
        """What is held: now, or when there is room."""
        while self._held and self.room.is_set():
            self._take(self._held.popleft())

    def _relieved(self) -> None:
        if self.room.is_set() or self._writer.queued > self._most // 2:
            return
        self.room.set()
        self._listen(True)
        self.take()
