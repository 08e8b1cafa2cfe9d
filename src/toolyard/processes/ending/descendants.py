"""End what a child started outside of its process group, where the system shows it (Linux).

A process with a session of its own (a browser, say) is in none of our groups. It is found as
a descendant, as long as everything in between still runs. So it is looked for now and then:
after a crash nothing says any more whose it was.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from threading import Lock

from toolyard.processes.ending import pidfd

PATIENCE_MS = 1000
LOOK_AFTER = 2.0
# Each is an open file meanwhile.
MOST_DESCENDANTS = 200


class Descendants:
    """The descendants of one child that are not in its group, as far as they were seen."""

    def __init__(self, leader: int) -> None:
        self._leader = leader
        self._seen: dict[int, int] = {}  # a pidfd for each, by its number
        self._lock = Lock()

    def __bool__(self) -> bool:
        return bool(self._seen)

    def look(self) -> None:
        """Takes a fraction of a millisecond a process; any thread may."""
        with self._lock:
            for pid in [pid for pid, process in self._seen.items() if pidfd.has_ended(process)]:
                os.close(self._seen.pop(pid))
            for pid, process in _below(self._leader):
                full = len(self._seen) >= MOST_DESCENDANTS
                if full or pid in self._seen or _group_of(pid) == self._leader:
                    os.close(process)
                else:
                    self._seen[pid] = process

    def end(self) -> None:
        """KILL them. Blocks until they are gone."""
        with self._lock:
            while self._seen:
                _, process = self._seen.popitem()
                if pidfd.kill(process):
                    pidfd.has_ended(process, PATIENCE_MS)
                os.close(process)


class Lookout:
    """Looks for them beside the loop, some time after their child has said something."""

    def __init__(self, leader: int) -> None:
        self._loop = asyncio.get_running_loop()
        self._descendants = Descendants(leader)
        self._timer: asyncio.TimerHandle | None = None
        self._looked: asyncio.Future[None] | None = None

    def stir(self) -> None:
        """Whoever is silent starts nothing either, as a rule."""
        if self._timer is None:
            self._timer = self._loop.call_later(LOOK_AFTER, self._look)

    def _look(self) -> None:
        self._timer = None
        self._looked = self._loop.run_in_executor(None, self._descendants.look)

    def look(self) -> None:
        self._descendants.look()

    def end(self) -> asyncio.Future[None] | None:
        """The child has ended. Returns what to await until the others have, if there are any."""
        if self._timer is not None:
            self._timer.cancel()
        is_busy = self._looked is not None and not self._looked.done()
        if not is_busy and not self._descendants:
            return None
        return self._loop.run_in_executor(None, self._descendants.end)


def _below(pid: int) -> Iterator[tuple[int, int]]:
    """Every descendant, with a pidfd that the caller has to close."""
    parents, room = [pid], MOST_DESCENDANTS
    while parents:
        parent = parents.pop()
        for child in _children(parent)[:room]:
            process = _opened(child, parent)
            if process is not None:
                room -= 1
                parents.append(child)
                yield child, process


def _opened(child: int, parent: int) -> int | None:
    try:
        process = pidfd.hold(child)
    except OSError:  # gone, or one too many
        return None
    if child in _children(parent):
        return process
    os.close(process)  # another process got its number
    return None


def _group_of(pid: int) -> int | None:
    try:
        return os.getpgid(pid)
    except OSError:
        return None


def _children(pid: int) -> list[int]:
    try:
        tasks = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return []
    return [child for task in tasks for child in _started_by(f"/proc/{pid}/task/{task}")]


def _started_by(task: str) -> list[int]:
    try:
        with open(f"{task}/children", "rb", buffering=0) as file:
            return [int(child) for child in file.read().split()]
    except OSError:
        return []
