"""Tell when a child process has ended, and reap it. Knows nothing else about it."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable
from typing import Protocol, TypeAlias

Ended: TypeAlias = Callable[[], None]
LOST = 255  # somebody else reaped our child: how it ended is not known


class ExitWatch(Protocol):
    """Calls back once when its child has ended; closing it gives up the call."""

    def close(self) -> None: ...

    def reap(self) -> int:
        """How it ended, negative for a signal. Only after the call back."""


class PidfdExit:
    """The kernel tells us: a pidfd becomes readable when its process ends."""

    __slots__ = ("_fd", "_loop", "_pid")

    def __init__(self, loop: asyncio.AbstractEventLoop, pid: int, ended: Ended) -> None:
        self._loop = loop
        self._pid = pid
        self._fd = os.pidfd_open(pid)
        loop.add_reader(self._fd, ended)

    def close(self) -> None:
        if self._fd < 0:
            return
        self._loop.remove_reader(self._fd)
        os.close(self._fd)
        self._fd = -1

    def reap(self) -> int:
        return reap(self._pid)


class ThreadExit:
    """For systems without pidfds: a thread that waits."""

    __slots__ = ("_code", "_ended", "_loop", "_pid")

    def __init__(self, loop: asyncio.AbstractEventLoop, pid: int, ended: Ended) -> None:
        self._loop = loop
        self._pid = pid
        self._ended: Ended | None = ended
        self._code = LOST
        threading.Thread(target=self._wait, daemon=True).start()

    def _wait(self) -> None:
        self._code = reap(self._pid)
        try:
            self._loop.call_soon_threadsafe(self._tell)
        except RuntimeError:  # the loop was closed meanwhile: nobody to tell
            pass

    def _tell(self) -> None:
        if self._ended is not None:
            self._ended()

    def close(self) -> None:
        self._ended = None

    def reap(self) -> int:
        return self._code


def reap(pid: int) -> int:
    try:
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    except ChildProcessError:
        return LOST


WatchExit: TypeAlias = Callable[[asyncio.AbstractEventLoop, int, Ended], ExitWatch]
watch_exit: WatchExit = PidfdExit if hasattr(os, "pidfd_open") else ThreadExit
