"""End what a script has put outside of its process group, once the script is over (Linux).

A process with a session of its own is in none of our groups, and nobody's child once the
script has ended. What it was started with still says whose it is: every run has a mark of its own
in its environment. The marks are looked for some time after a run has ended, for all runs
at once, and only in processes that have not been looked at.
"""

from __future__ import annotations

import asyncio
import os
import re
import time
from collections.abc import Callable, Set

from toolyard.processes.ending import pidfd

LOOK_AFTER = 0.2
# Numbers of processes are given out again: what was known about one is forgotten after this.
KNOWN_FOR = 1.0
LONGEST_ENVIRON = 4 * 1024 * 1024


class Marks:
    """Looks after the runs that share one folder."""

    def __init__(
        self, loop: asyncio.AbstractEventLoop, root: bytes, live: Callable[[], Set[int]]
    ) -> None:
        self._loop = loop
        # What the run of a number carries: `form % number`.
        self.form = root.replace(b"%", b"%%") + b"/run.%d"
        self._mark = re.compile(re.escape(root) + rb"/run\.(\d+)\0")
        self._live = live
        self._timer: asyncio.TimerHandle | None = None  # until what it does is done
        self._closed = False
        self._looking: asyncio.Future[Set[int]] | None = None
        self._known: Set[int] = frozenset()  # processes that are not ours
        self._looked_at = 0.0

    def look_soon(self) -> None:
        """A run is over."""
        if self._timer is None and not self._closed:
            self._timer = self._loop.call_later(LOOK_AFTER, self._look)

    def close(self) -> None:
        self._closed = True
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _look(self) -> None:
        self._looking = self._loop.run_in_executor(None, self._find)
        self._looking.add_done_callback(self._found)

    def _find(self) -> Set[int]:
        """The processes that carry a mark. 10 µs each, for which the loop has better uses."""
        try:
            present = {int(name) for name in os.listdir("/proc") if name.isdecimal()}
        except OSError:  # another system, or no descriptor for it
            return frozenset()
        now = time.monotonic()
        strangers = self._known & present if now - self._looked_at < KNOWN_FOR else frozenset()
        marked_pids = {pid for pid in present - strangers if self._mark.search(environ_of(pid))}
        self._known, self._looked_at = present - marked_pids, now
        return marked_pids

    def _found(self, search: asyncio.Future[Set[int]]) -> None:
        self._timer = None
        if self._closed or search.cancelled():
            return
        live = self._live()
        if [pid for pid in search.result() if self._end(pid, live)]:
            self.look_soon()  # for what they have started meanwhile

    def _end(self, pid: int, live: Set[int]) -> bool:
        """End it unless its run goes on. Looked at again: its number may be another's by now."""
        try:
            process = pidfd.hold(pid)
        except OSError:
            return False
        try:
            match = self._mark.search(environ_of(pid))
            if match is None or int(match[1]) in live:
                return False
            return pidfd.kill(process)
        finally:
            os.close(process)


def environ_of(pid: int) -> bytes:
    """With a NUL at its end; empty where there is none to see."""
    try:
        with open(f"/proc/{pid}/environ", "rb", buffering=0) as file:
            return file.read(LONGEST_ENVIRON) + b"\0"
    except OSError:
        return b""
