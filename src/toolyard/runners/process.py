"""Run one child process to completion. Knows nothing about MCP.

A process is over when it exits, not when its pipes close: a grandchild that keeps
stdout open must not hang its call. Whatever is then left of its process group is killed.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from toolyard.runners.exits import WatchExit, watch_exit

READ_SIZE = 65536
DRAIN_READS = 32  # 1 MiB is the most that a pipe holds; reads of a writing pipe may be short
# A process substitution (`> >(tee log)`) still writes a moment after its shell has ended.
LINGER = 0.05


@dataclass(frozen=True, slots=True)
class Command:
    """What to run, and how much of what it prints to keep."""

    argv: Sequence[str]
    env: Mapping[str, str]
    cwd: str | None = None
    stdin: bytes | None = None  # None: /dev/null
    max_stdout: int = 10 * 1024 * 1024
    stderr_tail: int = 4096


@dataclass(frozen=True, slots=True)
class Exit:
    """How it ended. `code` is 128 + n for a process ended by signal n."""

    code: int
    stdout: bytes
    stderr: bytes
    overflowed: bool


class Process:
    """One running child, leader of its own session and process group.

    Creating it spawns (OSError where that fails). `done` resolves when it has ended;
    who stops waiting calls `terminate`, and `ended` is called whoever waits.
    """

    __slots__ = (
        "_ended",
        "_err",
        "_exit_watch",
        "_in",
        "_linger",
        "_loop",
        "_out",
        "_popen",
        "_stopping",
        "done",
        "over",
        "pid",
    )

    def __init__(
        self,
        command: Command,
        loop: asyncio.AbstractEventLoop,
        ended: Callable[[], None],
        watch_exit: WatchExit = watch_exit,
    ) -> None:
        self._loop = loop
        self._ended = ended
        self.done: asyncio.Future[Exit] = loop.create_future()
        self.over = False
        self._stopping: asyncio.TimerHandle | None = None
        self._linger: asyncio.TimerHandle | None = None
        self._popen, out, err, stdin = spawn(command)
        self.pid = self._popen.pid
        self._out = Collected(loop, out, command.max_stdout, self._advanced)
        self._err = Tail(loop, err, command.stderr_tail, self._advanced)
        self._in = Feed(loop, stdin, command.stdin) if command.stdin is not None else None
        try:
            self._exit_watch = watch_exit(loop, self._popen, self._exited)
        except OSError:  # no file descriptor left for it: a child unwatched must not run
            signal_group(self.pid, signal.SIGKILL)
            self._popen.wait()
            self._close_pipes()
            raise

    def terminate(self, grace: float) -> None:
        """Stdin closed first, then TERM to the whole group, KILL to it after `grace`."""
        if self._stopping is not None or self.over:
            return
        if self._in is not None:
            self._in.close()
        self._stopping = self._loop.call_later(grace, signal_group, self.pid, signal.SIGKILL)
        signal_group(self.pid, signal.SIGTERM)

    def give_up(self) -> None:
        """Stop waiting for a process that even KILL does not end."""
        if not self.done.done():
            self.done.set_result(self._exit(-signal.SIGKILL))

    def group_is_gone(self) -> bool:
        """Is nobody left of the group? Only to be asked once it is over."""
        try:
            os.killpg(self.pid, 0)
        except ProcessLookupError:
            return True
        except PermissionError:  # a set-user-id program that is not ours to end
            return False
        return False

    def _advanced(self) -> None:
        """More was read: too much of it, or the last of it after the exit."""
        if self._out.overflowed:
            self.terminate(0.0)
        elif self._linger is not None and self._at_end():
            self._finish()

    def _exited(self) -> None:
        self._exit_watch.close()
        self._out.drain()
        self._err.drain()
        if self._at_end() or self._stopping is not None:
            self._finish()
        else:
            self._linger = self._loop.call_later(LINGER, self._finish)

    def _at_end(self) -> bool:
        return self._out.closed and self._err.closed

    def _finish(self) -> None:
        if self.over:
            return
        self.over = True
        # Before the leader is reaped: until then its number cannot be another group's.
        signal_group(self.pid, signal.SIGKILL)
        code = self._popen.wait()
        for timer in (self._stopping, self._linger):
            if timer is not None:
                timer.cancel()
        self._close_pipes()
        if not self.done.done():
            self.done.set_result(self._exit(code))
        self._ended()

    def _close_pipes(self) -> None:
        self._out.drain()
        self._err.drain()
        for pipe in (self._out, self._err, self._in):
            if pipe is not None:
                pipe.close()

    def _exit(self, code: int) -> Exit:
        return Exit(
            code=code if code >= 0 else 128 - code,
            stdout=self._out.value(),
            stderr=self._err.value(),
            overflowed=self._out.overflowed,
        )


def spawn(command: Command) -> tuple[subprocess.Popen[bytes], int, int, int]:
    """The child and our ends of its stdout, stderr and stdin (-1 for /dev/null)."""
    ours: list[int] = []
    theirs: list[int] = []
    try:
        for _ in ("stdout", "stderr"):
            reading, writing = os.pipe()
            ours.append(reading)
            theirs.append(writing)
        if command.stdin is not None:
            reading, writing = os.pipe()
            theirs.append(reading)
            ours.append(writing)
        popen = subprocess.Popen(
            command.argv,
            stdin=theirs[2] if command.stdin is not None else subprocess.DEVNULL,
            stdout=theirs[0],
            stderr=theirs[1],
            cwd=command.cwd,
            env=command.env,
            start_new_session=True,
        )
    except BaseException:
        close_all(ours)
        raise
    finally:
        close_all(theirs)
    for fd in ours:
        os.set_blocking(fd, False)
    return popen, ours[0], ours[1], ours[2] if command.stdin is not None else -1


def close_all(fds: Sequence[int]) -> None:
    for fd in fds:
        os.close(fd)


def signal_group(group: int, number: int) -> None:
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        pass


class Incoming:
    """The reading end of one pipe of the child."""

    __slots__ = ("_advanced", "_fd", "_loop", "closed")

    def __init__(
        self, loop: asyncio.AbstractEventLoop, fd: int, advanced: Callable[[], None]
    ) -> None:
        self._loop = loop
        self._fd = fd
        self._advanced = advanced
        self.closed = False
        loop.add_reader(fd, self._readable)

    def keep(self, data: bytes) -> None:
        raise NotImplementedError

    def _readable(self) -> None:
        self._read()
        self._advanced()

    def drain(self) -> None:
        """Read what is there: a pipe's worth, so that an endless writer cannot hold us."""
        for _ in range(DRAIN_READS):
            if self.closed or not self._read():
                return

    def _read(self) -> bool:
        try:
            data = os.read(self._fd, READ_SIZE)
        except BlockingIOError:
            return False
        if data:
            self.keep(data)
        else:
            self.close()
        return bool(data)

    def close(self) -> None:
        if self.closed:
            return
        self.closed = True
        self._loop.remove_reader(self._fd)
        os.close(self._fd)


class Collected(Incoming):
    """Keeps everything up to a limit; says when there was more."""

    __slots__ = ("_chunks", "_left", "overflowed")

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        fd: int,
        limit: int,
        advanced: Callable[[], None],
    ) -> None:
        self._chunks: list[bytes] = []
        self._left = limit
        self.overflowed = False
        super().__init__(loop, fd, advanced)

    def keep(self, data: bytes) -> None:
        if self.overflowed:
            return
        self._left -= len(data)
        self.overflowed = self._left < 0
        self._chunks.append(data)

    def value(self) -> bytes:
        return b"".join(self._chunks)


class Tail(Incoming):
    """Keeps the last bytes only."""

    __slots__ = ("_limit", "_tail")

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        fd: int,
        limit: int,
        advanced: Callable[[], None],
    ) -> None:
        self._tail = bytearray()
        self._limit = limit
        super().__init__(loop, fd, advanced)

    def keep(self, data: bytes) -> None:
        self._tail += data
        if len(self._tail) > self._limit:
            del self._tail[: len(self._tail) - self._limit]

    def value(self) -> bytes:
        return bytes(self._tail)


class Feed:
    """Writes given bytes to the child's stdin as fast as it takes them, then closes it."""

    __slots__ = ("_fd", "_left", "_loop")

    def __init__(self, loop: asyncio.AbstractEventLoop, fd: int, data: bytes) -> None:
        self._loop = loop
        self._fd = fd
        self._left = memoryview(data)
        self._write()
        if self._fd >= 0:
            loop.add_writer(fd, self._write)

    def _write(self) -> None:
        try:
            self._left = self._left[os.write(self._fd, self._left) :]
        except BlockingIOError:
            return
        except BrokenPipeError:
            self.close()
            return
        if not self._left:
            self.close()

    def close(self) -> None:
        if self._fd < 0:
            return
        self._loop.remove_writer(self._fd)
        os.close(self._fd)
        self._fd = -1
