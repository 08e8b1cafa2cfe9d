"""End what a child left outside of its process group. It is known by its environment alone.

Who starts a session of its own (a daemon, a browser) is in no group of ours, and has another
parent once its own is gone; what it was given as its environment stays. Only where the system
shows that (Linux); who was started with another environment is not found.
"""

from __future__ import annotations

import os
import select
import signal

MARK = "TOOLYARD_UPSTREAM"
# Who is just being started by one of them is found in the next round.
MOST_ROUNDS = 5
PATIENCE_MS = 1000


def end_marked(mark: str) -> None:
    """KILL whoever carries this mark. Blocks: it looks at every process there is."""
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
        if not _carries(pid, entry):
            return False
        signal.pidfd_send_signal(process, signal.SIGKILL)
        poll = select.poll()
        poll.register(process, select.POLLIN)
        return bool(poll.poll(PATIENCE_MS))
    except OSError:
        return False
    finally:
        os.close(process)
