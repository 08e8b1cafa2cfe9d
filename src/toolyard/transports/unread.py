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
# What a client that does not read can do without.
_REPORTS = (
    b'{"jsonrpc":"2.0","method":"notifications/progress"',
    b'{"jsonrpc":"2.0","method":"notifications/message"',
)


class Unread(Generic[Line]):
    """The lines of a client, taken only while it reads our answers.

    `listen(False)` stops the reading of further requests, `listen(True)` takes it up again.
    """

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
        self._lines: deque[Line] = deque()
        self.hold = self._lines.append  # a line that has been read
        self.room = asyncio.Event()
        self.room.set()
        writer.when_relieved(self._relieved)

    def write(self, message: bytes) -> None:
        if not self.room.is_set() and message.startswith(_REPORTS):
            return
        self._writer.write(message)
        if self._writer.queued > self._most and self.room.is_set():
            log.warning("the client does not read its answers: its requests wait until it does")
            self.room.clear()
            self._listen(False)

    def take(self) -> None:
        """Pass on the lines that were read: now, or when there is room."""
        while self._lines and self.room.is_set():
            self._take(self._lines.popleft())

    def _relieved(self) -> None:
        if self.room.is_set() or self._writer.queued > self._most // 2:
            return
        self.room.set()
        self._listen(True)
        self.take()
