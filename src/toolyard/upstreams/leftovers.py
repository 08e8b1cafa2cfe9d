"""End what a child left outside of its process group, where the system shows it (Linux).

Who starts a session of its own (a daemon, a browser) is in no group of ours, and has another
parent once its own is gone; what it was given as its environment stays. Who was started with
another environment is found as a descendant, as long as all between still run.
"""

from __future__ import annotations

import os
import select
import signal
from collections.abc import Iterable

MARK = "TOOLYARD_UPSTREAM"
# Who is just being started by one of them is found in the next round.
MOST_ROUNDS = 5
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


def end_left(mark: str, processes: Iterable[int]) -> None:
    """KILL these, and whoever carries this mark. Blocks: it looks at every process there is."""
    for process in processes:
        _kill(process)
        os.close(process)
    _end_marked(mark)


def _end_marked(mark: str) -> None:
    entry = f"{MARK}={mark}".encode()
    for _ in range(MOST_ROUNDS):
        found = [pid for pid in _processes() if _carries(pid, entry)]
        ended = [_ended(pid, entry) for pid in found]
        if not any(ended):
            return


def _processes() -> list[int]:
    try:
        return [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return []


def _carries(pid: int, entry: bytes) -> bool:
    try:
        with open(f"/proc/{pid}/environ", "rb", buffering=0) as file:
            return entry in file.read().split(b"\0")
    except OSError:  # gone, or somebody else's
        return False


def _ended(pid: int, entry: bytes) -> bool:
    try:
        process = os.pidfd_open(pid)
    except OSError:
        return False
    try:
        # Its number may be another's by now; what was opened cannot change any more.
        return _carries(pid, entry) and _kill(process)
    finally:
        os.close(process)


def _kill(process: int) -> bool:
    try:
        signal.pidfd_send_signal(process, signal.SIGKILL)
    except OSError:
        return False
    poll = select.poll()
    poll.register(process, select.POLLIN)
    return bool(poll.poll(PATIENCE_MS))
