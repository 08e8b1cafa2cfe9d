"""Run one child process to completion. Knows nothing about MCP.

A process is over when it exits, not when its pipes close: a grandchild that keeps
stdout open must not hang its call. Whatever is then left of its process group is killed.
In this order:

    running    From the moment it is made. Its output waits in the pipes until there is much
               of it (`look`), or until somebody wants it at once (`attend`).
    stopping   `terminate`, or more output than allowed: stdin closed, TERM, KILL (group.py).
               It is read on meanwhile: what it says last counts as well.
    lingering  It has exited, and a pipe is still open: for a moment, those who write to it
               may finish. One that was told to stop does not get that moment.
    over       Its group is killed, its pipes are closed, `done` has its result and
               `on_over` is called, once.

`done` may have its result before: `give_up` is for a process that even KILL does not end.
The caller is answered then, and `over` still comes when it does end, if ever.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Mapping
from typing import NamedTuple

from toolyard.processes.ending.exits import Exits
from toolyard.processes.ending.group import Ending, end_at_once, signal_group
from toolyard.processes.pipes import FILLING, Collected, Feed, Heard, Tail
from toolyard.processes.spawn import spawn

# A process substitution (`> >(tee log)`) still writes a moment after its shell has ended.
LINGER = 0.05


class Command(NamedTuple):
    """What to run, and how much of what it prints to keep."""

    argv: list[str]  # the first is a path
    env: Mapping[bytes, bytes]
    cwd: str | None = None
    stdin: bytes | None = None  # None: /dev/null
    max_stdout: int = 10 * 1024 * 1024
    stderr_tail: int = 4096
    # Hears each line of stderr as it comes.
    hears_stderr: Callable[[bytes], None] | None = None
    # Hears the bytes of stdout as they come; nothing of them is kept then.
    hears_stdout: Callable[[bytes], None] | None = None
    more_stdin: bool = False  # it stays open after `stdin`, for `feed`
    linger: float = LINGER


class Exit(NamedTuple):
    """How it ended. `code` is 128 + n for a process ended by signal n."""

    code: int
    stdout: bytes
    stderr: bytes
    overflowed: bool


class Process:
    """One running child, leader of its own session and process group.

    Creating it spawns (OSError where that fails). `done` resolves when it has ended;
    whoever stops waiting calls `terminate`, and `on_over` is called in any case. Most
    children say little: they are read once, at their end, from a pipe with room for it.
    Whoever sees one still running calls `look` now and then, to have it read before that
    is full.
    """

    __slots__ = (
        "_code",
        "_err",
        "_in",
        "_linger",
        "_linger_seconds",
        "_loop",
        "_on_over",
        "_out",
        "_stopping",
        "done",
        "group_gone",
        "over",
        "pid",
    )

    def __init__(
        self,
        command: Command,
        loop: asyncio.AbstractEventLoop,
        exits: Exits,
        on_over: Callable[[], None],
    ) -> None:
        self._loop = loop
        self._on_over = on_over
        self.done: asyncio.Future[Exit] = loop.create_future()
        self._code = 0
        self.over = False
        self.group_gone = False
        self._stopping: Ending | None = None
        self._linger: asyncio.TimerHandle | None = None
        self.pid, out, err, into = spawn(
            command.argv, command.env, command.cwd, has_stdin=command.stdin is not None
        )
        self._linger_seconds = command.linger
        self._out: Collected | Heard = (
            Collected(loop, out, self._on_read, command.max_stdout)
            if command.hears_stdout is None
            else Heard(loop, out, self._on_read, command.hears_stdout)
        )
        self._err = Tail(loop, err, self._on_read, command.stderr_tail, command.hears_stderr)
        self._in: Feed | None = None
        try:
            if command.stdin is not None:
                self._in = Feed(loop, into, command.stdin, more=command.more_stdin)
            if not self._has_room() or command.hears_stderr is not None:
                self.attend()
            exits.watch(self.pid, self._exited)
        except OSError:  # no file descriptor left for it: a child unwatched must not run
            end_at_once(self.pid)
            self._close_pipes()
            raise

    def _has_room(self) -> bool:
        return isinstance(self._out, Collected) and self._out.make_room()

    @property
    def exit_code(self) -> int | None:
        """None while it runs. It may have exited and not be over: it lingers."""
        return _shell_code(self._code) if self.over or self._linger is not None else None

    def feed(self, data: bytes) -> None:
        """More for its stdin, where that stays open."""
        if self._in is not None:
            self._in.add(data)

    def finish_feeding(self) -> None:
        if self._in is not None:
            self._in.finish()

    def look(self) -> None:
        if self._out.waiting() > FILLING or self._err.waiting() > FILLING:
            self.attend()

    def attend(self) -> None:
        self._out.attend()
        self._err.attend()

    def terminate(self, grace: float) -> None:
        """Stdin closed first, then TERM to the whole group, KILL to it after `grace`."""
        if self._stopping is not None or self.over:
            return
        self._stopping = Ending(
            self._loop, self.pid, self._close_stdin, term_after=0.0, kill_after=grace
        )
        if self._linger is not None:
            self._finish()

    def _close_stdin(self) -> None:
        if self._in is not None:
            self._in.close()

    def give_up(self) -> None:
        """Stop waiting for a process that even KILL does not end."""
        if not self.done.done():
            self.done.set_result(self._exit(-signal.SIGKILL))

    def _on_read(self) -> None:
        """More was read: too much of it, or the last of it after the exit."""
        if self._out.overflowed:
            self.terminate(0.0)
        elif self._linger is not None and self._at_end():
            self._finish()

    def _exited(self, code: int) -> None:
        self._code = code
        self._out.drain()
        self._err.drain()
        if self._at_end() or self._stopping is not None:
            self._finish()
        else:
            self.attend()
            self._linger = self._loop.call_later(self._linger_seconds, self._finish)

    def _at_end(self) -> bool:
        return self._out.closed and self._err.closed

    def _finish(self) -> None:
        if self.over:
            return
        self.over = True
        # Whoever is still there cannot do anything from here on.
        self.group_gone = not signal_group(self.pid, signal.SIGKILL)
        self._close_pipes()
        if not self.done.done():
            self.done.set_result(self._exit(self._code))
        self._on_over()

    def _close_pipes(self) -> None:
        for timer in (self._stopping, self._linger):
            if timer is not None:
                timer.cancel()
        if not self._at_end():
            self._out.drain()
            self._err.drain()
            self._out.close()
            self._err.close()
        self._close_stdin()

    def _exit(self, code: int) -> Exit:
        return Exit(
            code=_shell_code(code),
            stdout=self._out.value(),
            stderr=self._err.value(),
            overflowed=self._out.overflowed,
        )


def _shell_code(code: int) -> int:
    return code if code >= 0 else 128 - code
