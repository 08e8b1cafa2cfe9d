"""Tell when a child process has ended, and how. Knows nothing else about it.

The kernel tells through a pidfd, which becomes readable. All pidfds share one epoll of
their own, which the loop watches: cheaper than a reader of the loop for each child.
"""

from __future__ import annotations

import asyncio
import os
import select
import threading
from collections.abc import Callable
from typing import Protocol, TypeAlias

Ended: TypeAlias = Callable[[int], None]
LOST = 255  # somebody else reaped our child: how it ended is not known


class Exits(Protocol):
    def watch(self, pid: int, ended: Ended) -> None:
        """Reap our child when it ends, then call `ended` with its exit code (-n: signal n)."""

    def close(self) -> None: ...


class PidfdExits:
    __slots__ = ("_epoll", "_loop", "_watched")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._epoll = select.epoll()
        self._watched: dict[int, tuple[int, Ended]] = {}
        loop.add_reader(self._epoll.fileno(), self._ready)

    def watch(self, pid: int, ended: Ended) -> None:
        fd = os.pidfd_open(pid)
        try:
            self._epoll.register(fd, select.EPOLLIN)
        except OSError:
            os.close(fd)
            raise
        self._watched[fd] = pid, ended

    def _ready(self) -> None:
        for fd, _ in self._epoll.poll(0):
            pid, ended = self._watched.pop(fd)
            # Closing would not do: a child just being spawned has a copy until it runs.
            self._epoll.unregister(fd)
            os.close(fd)
            ended(reap(pid))

    def close(self) -> None:
        self._loop.remove_reader(self._epoll.fileno())
        self._epoll.close()
        for fd in self._watched:
            os.close(fd)
        self._watched.clear()


class ThreadExits:
    """For systems without pidfds: a thread for each child."""

    __slots__ = ("_loop",)

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop

    def watch(self, pid: int, ended: Ended) -> None:
        threading.Thread(target=self._wait, args=(pid, ended), daemon=True).start()

    def _wait(self, pid: int, ended: Ended) -> None:
        code = reap(pid)
        try:
            self._loop.call_soon_threadsafe(ended, code)
        except RuntimeError:  # the loop was closed meanwhile: nobody to tell
            pass

    def close(self) -> None: ...


def reap(pid: int) -> int:
    try:
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    except ChildProcessError:
        return LOST


def exits_of(loop: asyncio.AbstractEventLoop) -> Exits:
    return PidfdExits(loop) if hasattr(os, "pidfd_open") else ThreadExits(loop)
