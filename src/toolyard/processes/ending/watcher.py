"""A small process that outlives us by a moment and ends what we could not.

It holds the reading end of a pipe whose writing end only we have. When that closes,
however we ended, it ends the process groups in a table that both share, with what their
leaders started outside of them, ends whatever else carries the name of our run folder in
its environment, and removes that folder.
Telling it of a group is one store to shared memory: it sleeps until we are gone.

So its script walks descendants, looks for marks and signals groups a second time, beside
descendants.py, marks.py and group.py: it runs when there is no Python of ours left to do it,
and a shell takes little memory while it waits for that.
"""

from __future__ import annotations

import asyncio
import mmap
import os
import signal

from toolyard.processes.ending.exits import Exits
from toolyard.processes.spawn import nothing, start
from toolyard.telemetry import logger

log = logger("watcher")

TABLE = "groups"
ROWS = 4096
ROW_BYTES = 12
BLANK_ROW = b" " * (ROW_BYTES - 1) + b"\n"
PATIENCE = 5.0
AT_ONCE, MOST_WAIT = 5, 30.0

# $1 is the run folder. Signals reach a group through the table. A process that left its group
# is found, where the system shows it, below the group's leader or by its environment.
SCRIPT = r"""
trap '' HUP INT TERM PIPE
root=$1
below() {
    for child in $(cat "/proc/$1/task"/*/children 2>/dev/null); do
        echo "$child"
        below "$child"
    done
}
send() {
    found=
    for process in $escaped; do
        kill "-$1" "$process" 2>/dev/null && found=yes
    done
    for group in $(cat "$root/groups" 2>/dev/null); do
        kill "-$1" "-$group" 2>/dev/null && found=yes
    done
    for place in $(grep -lsF "$root" /proc/[0-9]*/environ 2>/dev/null); do
        place=${place#/proc/}
        kill "-$1" "${place%/environ}" 2>/dev/null && found=yes
    done
    [ -n "$found" ]
}
read -r _
escaped=$(for group in $(cat "$root/groups" 2>/dev/null); do below "$group"; done)
send TERM && for _ in 1 2 3 4 5; do
    sleep 0.1
    send 0 || break
done
for _ in 1 2 3 4 5; do
    send KILL || break
    sleep 0.05
done
rm -rf -- "$root" || rm -rf -- "$root"
"""


class Watcher:
    """Holds the table and the pipe; `close` has the process sweep and waits for its end."""

    __slots__ = (
        *("_again", "_closing", "_exits", "_free", "_gone", "_pipe", "_root", "_starts"),
        *("_table", "pid"),
    )

    def __init__(self, root: str, exits: Exits) -> None:
        self._root = root
        self._exits = exits
        self._free = list(range(ROWS - 1, -1, -1))
        self._table = create_table(f"{root}/{TABLE}")
        self._pipe = -1
        self._gone = asyncio.Event()
        self._starts = 0
        self._closing = False
        self._again: asyncio.TimerHandle | None = None
        self._start()

    def watch(self, group: int) -> int:
        """Remember a process group; the row to give back to `forget` (-1: the table is full)."""
        if not self._free:
            return -1
        row = self._free.pop()
        place = row * ROW_BYTES
        self._table[place : place + ROW_BYTES] = b"%11d\n" % group
        return row

    def forget(self, row: int) -> None:
        if row < 0:
            return
        place = row * ROW_BYTES
        self._table[place : place + ROW_BYTES] = BLANK_ROW
        self._free.append(row)

    async def close(self) -> None:
        self._closing = True
        if self._again is not None:
            self._again.cancel()
            self._gone.set()
        self._close_pipe()
        try:
            async with asyncio.timeout(PATIENCE):
                await self._gone.wait()
        except TimeoutError:
            os.kill(self.pid, signal.SIGKILL)
            await self._gone.wait()
        self._table.close()

    def _start(self) -> None:
        self._starts += 1
        reading, self._pipe = os.pipe()
        try:
            self.pid = start_watching(reading, self._root)
            self._exits.watch(self.pid, self._ended)
        except OSError:
            self._close_pipe()
            raise
        finally:
            os.close(reading)

    def _ended(self, _code: int) -> None:
        """After `close`, or because somebody killed it: then there must be another."""
        self._close_pipe()
        if self._closing:
            self._gone.set()
        else:
            log.warning(
                "the process that would end our children after us was killed; starting another"
            )
            self._restart()

    def _restart(self) -> None:
        """At once the first times, then ever later: somebody may go on killing it."""
        wait = 0.0 if self._starts < AT_ONCE else min(2.0 ** (self._starts - AT_ONCE), MOST_WAIT)
        loop = asyncio.get_running_loop()
        self._again = loop.call_later(wait, self._start_again)

    def _start_again(self) -> None:
        self._again = None
        try:
            self._start()
        except OSError as error:
            self._close_pipe()
            log.warning(
                "the process that would end our children after us cannot be started: %s", error
            )
            self._restart()

    def _close_pipe(self) -> None:
        if self._pipe >= 0:
            os.close(self._pipe)
            self._pipe = -1


def start_watching(pipe: int, root: str) -> int:
    argv = ["/bin/sh", "-c", SCRIPT, "toolyard-watcher", root]
    env = {"PATH": os.environ.get("PATH") or os.defpath}
    return start(argv, env, "/", (pipe, nothing(), nothing()))


def create_table(path: str) -> mmap.mmap:
    with open(path, "w+b") as file:
        file.write(BLANK_ROW * ROWS)
        file.flush()
        return mmap.mmap(file.fileno(), 0)
