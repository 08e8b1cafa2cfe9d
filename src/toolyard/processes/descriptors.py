"""Write lines to a file descriptor without a thread. Knows no JSON."""

from __future__ import annotations

import asyncio
import os
import select
import stat
from collections import deque
from collections.abc import Callable

CHUNK = 1 << 18


class LineWriter:
    """Writes whole lines to a descriptor; what a slow reader does not take waits in order."""

    def __init__(self, fd: int, broken: Callable[[], None]) -> None:
        self._fd = fd
        self._broken = broken
        self.queued = 0  # bytes that nobody has read yet
        self._relieved: Callable[[], None] = lambda: None
        self._waiting: deque[memoryview] = deque()
        self._drained: asyncio.Future[None] | None = None
        if can_poll(fd):
            os.set_blocking(fd, False)

    def when_relieved(self, callback: Callable[[], None]) -> None:
        """Have this called whenever some of what is queued was read."""
        self._relieved = callback

    def write(self, line: bytes) -> None:
        view = memoryview(line + b"\n")
        if self._waiting:
            self._waiting.append(view)
            self.queued += len(view)
            return
        remainder = self._try(view)
        if remainder:
            self._waiting.append(remainder)
            self.queued = len(remainder)
            asyncio.get_running_loop().add_writer(self._fd, self._writable)

    def _try(self, view: memoryview) -> memoryview:
        """Write what the descriptor takes now; what is left of the line."""
        try:
            while view:
                view = view[os.write(self._fd, view) :]
        except BlockingIOError:
            return view
        except OSError:
            self._broken()
            return memoryview(b"")
        return view

    def _writable(self) -> None:
        while self._waiting:
            before = self._waiting[0]
            remainder = self._try(before)
            self.queued -= len(before) - len(remainder)
            if remainder:
                self._waiting[0] = remainder
                self._relieved()
                return
            self._waiting.popleft()
        self._relieved()
        asyncio.get_running_loop().remove_writer(self._fd)
        if self._drained is not None and not self._drained.done():
            self._drained.set_result(None)

    async def drain(self, timeout: float) -> bool:
        """Wait until everything is written, or nobody reads it; is something left?"""
        if self._waiting:
            self._drained = asyncio.get_running_loop().create_future()
            await asyncio.wait([self._drained], timeout=timeout)
        return bool(self._waiting)


def can_poll(fd: int) -> bool:
    """Does the loop get events for it? Regular files give none."""
    mode = os.fstat(fd).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


def has_reader(fd: int) -> bool:
    """Is there still somebody at the other end of a pipe that we write to?"""
    poll = select.poll()
    poll.register(fd, 0)
    return not any(event & (select.POLLERR | select.POLLHUP) for _, event in poll.poll(0))
