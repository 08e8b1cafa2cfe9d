"""Keep the processes that we start from outliving us: one guard for all of them.

It owns the run folder, the exits and the watcher. Nothing is opened before the first process
that it watches. Exits alone can be watched before that, and after `close`: whoever still has
a child then must hear of its end.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

from toolyard import telemetry
from toolyard.files.removing import remove_folder, remove_unfinished
from toolyard.processes.ending.exits import Exits, exits_of
from toolyard.processes.ending.watcher import TABLE, Watcher
from toolyard.processes.privacy import keep_to_ourselves

log = telemetry.logger("runners")


def _nothing() -> None: ...


class Opened(NamedTuple):
    """What the guard opens, all at once."""

    root: str  # the private run folder, which is removed when we end
    exits: Exits
    watcher: Watcher


class Guard:
    """Owns what it takes to end our processes, whatever becomes of us."""

    def __init__(self, parent: str | None) -> None:
        """The run folder is made in `parent`; None: the system's place."""
        self._parent = parent
        self._opened: Opened | None = None
        self._exits: Exits | None = None
        self._closed = False

    @property
    def exits(self) -> Exits:
        if self._exits is None:
            self._exits = exits_of(asyncio.get_running_loop())
        return self._exits

    def open(self) -> Opened:
        """Raises OSError where there is no room for a folder or a process."""
        if self._opened is None:
            self._opened = _open(run_folder(self._parent), self.exits)
        return self._opened

    def watch(self, group: int) -> Callable[[], None]:
        """End this process group should we be gone. Returns what to call once the group is gone."""
        if self._closed:
            return _nothing
        try:
            watcher = self.open().watcher
        except OSError as error:
            log.warning("group %d may outlive us: %s", group, error)
            return _nothing
        row = watcher.watch(group)
        return lambda: watcher.forget(row)

    async def close(self) -> None:
        """After everything that it guards: ends what is left. A second time does nothing."""
        self._closed = True
        resources, self._opened = self._opened, None
        if resources is None:
            return
        await resources.watcher.close()
        remove_folder(resources.root)


def run_folder(parent: str | None) -> str:
    parent = os.path.realpath(parent or os.environ.get("TMPDIR") or "/tmp")
    os.makedirs(parent, 0o700, exist_ok=True)
    with suppress(OSError):  # scripts get this one, even where we were told to use another
        os.makedirs(os.environ.get("TMPDIR") or parent, 0o700, exist_ok=True)
    root = f"{parent}/toolyard-run.{os.getpid()}.{os.urandom(6).hex()}"
    os.mkdir(root, 0o700)
    return root


def _open(root: str, exits: Exits) -> Opened:
    try:
        keep_to_ourselves()
        return Opened(root, exits, Watcher(root, exits))
    except OSError:
        remove_unfinished(root, TABLE)
        raise
