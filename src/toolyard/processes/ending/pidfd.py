"""Hold a process by a descriptor: its number may be another's by now (Linux).

The one home of pidfds: for our own children (exits.py), for what they started (descendants.py)
and for what carries a mark of ours (marks.py).
"""

from __future__ import annotations

import os
import select
import signal

AVAILABLE = hasattr(os, "pidfd_open")


def hold(pid: int) -> int:
    """Raises OSError where it is gone, or where no descriptor is left for it."""
    return os.pidfd_open(pid)


def has_ended(process: int, within_ms: int = 0) -> bool:
    poll = select.poll()
    poll.register(process, select.POLLIN)
    return bool(poll.poll(within_ms))


def kill(process: int) -> bool:
    """False where it has just ended, or is not ours to end."""
    try:
        signal.pidfd_send_signal(process, signal.SIGKILL)
    except OSError:
        return False
    return True
