"""End what a child started outside of its process group, where the system shows it (Linux).

Who starts a session of its own (a browser, say) is in no group of ours. It is found as a
descendant, as long as all between still run: not after a crash, nor once it has become a daemon.
"""

from __future__ import annotations

import os
import select
import signal
from collections.abc import Iterable

PATIENCE_MS = 1000
# Each is an open file meanwhile.
MOST_DESCENDANTS = 200


def descendants(pid: int) -> list[int]:
    """A pidfd for each, to be given to `end_left`."""
    found: list[int] = []
    parents = [pid]
    while parents and len(found) < MOST_DESCENDANTS:
        parent = parents.pop()
        for child in _children(parent)[: MOST_DESCENDANTS - len(found)]:
            process = _opened(child, parent)
            if process is not None:
                found.append(process)
                parents.append(child)
    return found


def _opened(child: int, parent: int) -> int | None:
    try:
        process = os.pidfd_open(child)
    except OSError:  # gone, or one too many
        return None
    if child in _children(parent):
        return process
    os.close(process)  # another one who got its number
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


def end_left(processes: Iterable[int]) -> None:
    """KILL these. Blocks until they are gone."""
    for process in processes:
        _kill(process)
        os.close(process)


def _kill(process: int) -> None:
    try:
        signal.pidfd_send_signal(process, signal.SIGKILL)
    except OSError:
        return  # it has ended by itself
    poll = select.poll()
    poll.register(process, select.POLLIN)
    poll.poll(PATIENCE_MS)
