"""Tell when a child process has ended, and how. Knows nothing else about it.

The kernel tells through a pidfd, which becomes readable. All pidfds share one epoll of
their own, which the loop watches: cheaper than a reader of the loop for each child. It is
opened for the first child and closed after the last: nobody has to own it.

It is the exit that counts, not the end of the output: a grandchild may keep a pipe open.
"""

from __future__ import annotations

import asyncio
import os
import select
import threading
from collections.abc import Callable
from typing import Protocol, TypeAlias

from toolyard.processes.ending import pidfd

OnExit: TypeAlias = Callable[[int], None]
LOST = 255  # somebody else reaped our child: how it ended is not known


class Exits(Protocol):
    """Hears of the exits of children."""

    def watch(self, pid: int, on_exit: OnExit) -> None:
        """Reap our child when it ends, then call `on_exit` with its exit code (-n: signal n).

        Raises OSError where no descriptor is left for it."""

    def close(self) -> None:
        """Children that still run are not reported any more."""


class PidfdExits:
    """One epoll for all children, as the head of the module says."""

    __slots__ = ("_epoll", "_loop", "_watched")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._epoll: select.epoll | None = None
        self._watched: dict[int, tuple[int, OnExit]] = {}

    def watch(self, pid: int, on_exit: OnExit) -> None:
        process = pidfd.hold(pid)
        try:
            epoll = self._epoll or self._open()
            epoll.register(process, select.EPOLLIN)
        except OSError:
            os.close(process)
            raise
        self._watched[process] = pid, on_exit

    def _open(self) -> select.epoll:
        epoll = select.epoll()
        try:
            self._loop.add_reader(epoll.fileno(), self._ready, epoll)
        except OSError:
            epoll.close()
            raise
        self._epoll = epoll
        return epoll

    def _ready(self, epoll: select.epoll) -> None:
        for process, _ in epoll.poll(0):
            pid, on_exit = self._watched.pop(process)
            # Closing would not do: a child just being spawned has a copy until it runs.
            epoll.unregister(process)
            os.close(process)
            on_exit(reap(pid))
        if not self._watched:
            self.close()

    def close(self) -> None:
        if self._epoll is None:
            return
        self._loop.remove_reader(self._epoll.fileno())
        self._epoll.close()
        self._epoll = None
        for process in self._watched:
            os.close(process)
        self._watched.clear()


class ThreadExits:
    """For systems without pidfds: a thread for each child."""

    __slots__ = ("_loop",)

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop

    def watch(self, pid: int, on_exit: OnExit) -> None:
        threading.Thread(target=self._wait, args=(pid, on_exit), daemon=True).start()

    def _wait(self, pid: int, on_exit: OnExit) -> None:
        code = reap(pid)
        try:
            self._loop.call_soon_threadsafe(on_exit, code)
        except RuntimeError:  # the loop was closed meanwhile: nobody to tell
            pass

    def close(self) -> None: ...


def reap(pid: int) -> int:
    try:
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    except ChildProcessError:
        return LOST


def exits_of(loop: asyncio.AbstractEventLoop) -> Exits:
    return PidfdExits(loop) if pidfd.AVAILABLE else ThreadExits(loop)
