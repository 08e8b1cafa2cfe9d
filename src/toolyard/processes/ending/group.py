"""End a child with all that it started: by its process group, step by step.

Every child leads a session and a process group of its own. Whoever wants it gone closes
its stdin, sends TERM to the group, and KILL at last; each step has its grace. A child that ends
takes its group along: what is left of it is killed when its exit is heard of.

That is safe although the leader has been reaped by then: its number stays taken while anybody
of the group lives, and is not given out again so soon. Later, nobody may signal it.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable

from toolyard.processes.ending.exits import reap


class Ending:
    """The way from asking to KILL. Whoever hears of the exit cancels what is left of it."""

    __slots__ = ("_group", "_loop", "_timer")

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        group: int,
        close_stdin: Callable[[], None],
        *,
        term_after: float,
        kill_after: float,
    ) -> None:
        """`kill_after` counts from TERM on."""
        self._loop = loop
        self._group = group
        close_stdin()
        if term_after:
            self._timer = loop.call_later(term_after, self._terminate, kill_after)
        else:
            self._terminate(kill_after)

    def _terminate(self, kill_after: float) -> None:
        self._timer = self._loop.call_later(kill_after, signal_group, self._group, signal.SIGKILL)
        signal_group(self._group, signal.SIGTERM)

    def cancel(self) -> None:
        self._timer.cancel()


def end_at_once(leader: int) -> None:
    """For a child whose exit nobody would hear of: it must not run unwatched."""
    signal_group(leader, signal.SIGKILL)
    reap(leader)


def signal_group(group: int, number: int) -> bool:
    """Is there anybody in the group?"""
    try:
        os.killpg(group, number)
    except ProcessLookupError:
        return False
    except PermissionError:  # a set-user-id program that is not ours to end
        pass
    return True
