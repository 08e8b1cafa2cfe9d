"""Tell when a child process has ended. Knows nothing else about it."""

from __future__ import annotations

import asyncio
import os
import subprocess
import threading
from collections.abc import Callable
from typing import Protocol, TypeAlias

Child: TypeAlias = "subprocess.Popen[bytes]"
Ended: TypeAlias = Callable[[], None]


class ExitWatch(Protocol):
    """Calls back once when its child has ended; closing it gives up the call."""

    def close(self) -> None: ...


class PidfdExit:
    """The kernel tells us: a pidfd becomes readable when its process ends, still unreaped."""

    __slots__ = ("_fd", "_loop")

    def __init__(self, loop: asyncio.AbstractEventLoop, child: Child, ended: Ended) -> None:
        self._loop = loop
        self._fd = os.pidfd_open(child.pid)
        loop.add_reader(self._fd, ended)

    def close(self) -> None:
        if self._fd < 0:
            return
        self._loop.remove_reader(self._fd)
        os.close(self._fd)
        self._fd = -1


class ThreadExit:
    """For systems without pidfds: a thread that waits, and reaps."""

    __slots__ = ("_child", "_ended", "_loop")

    def __init__(self, loop: asyncio.AbstractEventLoop, child: Child, ended: Ended) -> None:
        self._loop = loop
        self._child = child
        self._ended: Ended | None = ended
        threading.Thread(target=self._wait, daemon=True).start()

    def _wait(self) -> None:
        self._child.wait()
        try:
            self._loop.call_soon_threadsafe(self._tell)
        except RuntimeError:  # the loop was closed meanwhile: nobody to tell
            pass

    def _tell(self) -> None:
        if self._ended is not None:
            self._ended()

    def close(self) -> None:
        self._ended = None


WatchExit: TypeAlias = Callable[[asyncio.AbstractEventLoop, Child, Ended], ExitWatch]
watch_exit: WatchExit = PidfdExit if hasattr(os, "pidfd_open") else ThreadExit
