"""One child process that lasts: lines in, lines out, its stderr's tail. Knows nothing about MCP.

A child goes one way, and each step happens at most once:

    made       Nothing runs. `write` is refused, `stop` has nothing to do.
    started    Spawned, read and watched; a turn of the loop later it is also guarded, so that
               it does not outlive us. `write` takes bytes until its stdin is shut.
    failed     It still runs and is of no use: it closed its input or output, or sent a line
               that is too long. `on_end` hears why, and its group is killed.
    stopping   Somebody called `stop`: stdin closed, TERM, KILL (group.py). From here on
               `on_end` is not called: whoever stops it knows.
    exited     Its exit was heard of. What was still in its pipes is passed on, its group is
               killed, everything is closed; `on_end` hears how it ended unless it had heard
               before. What it had started outside of its group is ended beside the loop, and
               `stop` waits for that too.

It may exit at any point, and the exit always decides: the end of its output proves nothing
(most close it by exiting, and then how they exited says more), and an open pipe does not
either (a grandchild may hold it).

Nobody can make us hold too much. A child that does not read has a bounded backlog and is then
refused; one that says too much is not read for a while (`hold`), until its pipe is full and
it waits.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Protocol

from toolyard.files.lines import Lines, TooLong
from toolyard.processes.ending.descendants import Lookout
from toolyard.processes.ending.exits import Exits, exits_of
from toolyard.processes.ending.group import Ending, end_at_once, signal_group
from toolyard.processes.pacing import Pace
from toolyard.processes.pipes import widen
from toolyard.processes.spawn import spawn

# More than 128 KiB would be mapped and unmapped for each read.
READ_SIZE = 128 * 1024 - 256
# So that an answer of some 100 kB is written and read at once, and nobody waits in between.
PIPE_SIZE = 256 * 1024
# As many as one system call takes everywhere.
MAX_PARTS = 16
MAX_BACKLOG = 64 * 1024 * 1024
TAIL_SIZE = 8 * 1024
# What it may say on stderr in a second; it is read no faster.
STDERR_RATE = 1024 * 1024
EXIT_GRACE = 0.5
# How long each step of stopping may take before the next, harsher one.
STDIN_GRACE, TERM_GRACE = 2.0, 2.0
# What a grandchild may still push through an inherited pipe when its parent has ended.
MAX_DRAIN = 1024 * 1024

_INHERITED = frozenset(
    {
        *("HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER", "LANG", "TMPDIR"),
        # Behind a company's proxy nothing is reached without these.
        *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"),
        *("http_proxy", "https_proxy", "all_proxy", "no_proxy"),
        *("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"),
        *("NODE_EXTRA_CA_CERTS", "NODE_USE_ENV_PROXY"),
    }
)


class GroupGuard(Protocol):
    """Hears of exits, and keeps process groups from outliving us."""

    @property
    def exits(self) -> Exits: ...

    def watch(self, group: int) -> Callable[[], None]:
        """This process group must not outlive us. Returns what to call once it is gone."""


@dataclass(frozen=True, slots=True)
class Program:
    """What to start. It gets little of our environment, and `env` beside that."""

    name: str  # or a path
    args: tuple[str, ...] = ()
    cwd: str | None = None
    env: Mapping[str, str] = field(default_factory=dict)


class Unguarded:
    """It ends with its stdin, or outlives us if it does not care."""

    @property
    def exits(self) -> Exits:
        return exits_of(asyncio.get_running_loop())

    def watch(self, group: int) -> Callable[[], None]:
        return lambda: None


def minimal_environment(extra: Mapping[str, str]) -> dict[str, str]:
    variables = {
        name: value
        for name, value in os.environ.items()
        if name in _INHERITED or name.startswith("LC_")
    }
    return {**variables, **extra}


class Child:
    """A process that lines go into and come out of, until it ends or is stopped.

    `on_line` hears each line; `on_end` is called once, with the reason, if it was not stopped.
    """

    def __init__(
        self,
        program: Program,
        on_line: Callable[[bytes | bytearray], None],
        on_end: Callable[[str], None],
        *,
        max_line: int,
        guard: GroupGuard,
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._program = program
        self._guard = guard
        self._forget: Callable[[], None] | None = None
        self._on_end = on_end
        self._lines = Lines(on_line, max_line)
        self._backlog: deque[bytes | memoryview] = deque()
        self._backlog_size = 0
        # Something was written in this turn of the loop, or waits until the pipe has room.
        self._gathering = False
        self._full = False
        self._tail = bytearray()
        self._err_pace = Pace(STDERR_RATE)
        self._held: set[str] = set()
        self._pid: int | None = None
        self._fds: dict[str, int] = {}
        self._reported = False
        self._exited = asyncio.Event()
        self._ending: Ending | None = None
        self._lookout: Lookout | None = None
        self._sweep: asyncio.Future[None] | None = None

    @property
    def pid(self) -> int | None:
        return self._pid

    @property
    def tail(self) -> str:
        return self._tail.decode("utf-8", "replace")

    # -- starting ----------------------------------------------------------------------

    def start(self) -> None:
        """Spawn it. Raises OSError with a text that says what could not be run."""
        program = self._program
        argv, env = [program.name, *program.args], minimal_environment(program.env)
        pid, out, err, into = spawn(argv, env, program.cwd, has_stdin=True)
        self._fds = {"in": into, "out": out, "err": err}
        widen(into, PIPE_SIZE)
        widen(out, PIPE_SIZE)
        try:
            self._loop.add_reader(out, self._read_out)
            self._loop.add_reader(err, self._read_err)
            self._guard.exits.watch(pid, self._on_exit)
        except OSError:
            end_at_once(pid)
            self._shut_all()
            raise
        self._pid = pid
        self._lookout = Lookout(pid)
        # Not at once: its first message goes out before that.
        self._loop.call_soon(self._be_guarded)

    def _be_guarded(self) -> None:
        if self._pid is not None and not self._exited.is_set():
            self._forget = self._guard.watch(self._pid)

    # -- reading -----------------------------------------------------------------------

    def _read_out(self) -> None:
        chunk = self._read("out")
        if chunk is None:
            return
        if not chunk:
            self._shut("out")
            # Most close it by exiting: then the exit says more.
            self._loop.call_later(EXIT_GRACE, self._fail, "closed its output")
            return
        if self._lookout is not None:
            self._lookout.stir()
        self._feed(chunk)

    def _feed(self, chunk: bytes) -> None:
        try:
            self._lines.feed(chunk)
        except TooLong:
            self._shut("out")
            self._fail("sent a line that is too long")

    def _read_err(self) -> None:
        chunk = self._read("err")
        if chunk is None:
            return
        if not chunk:
            self._shut("err")
            return
        self._tail += chunk
        if len(self._tail) > TAIL_SIZE:
            del self._tail[:-TAIL_SIZE]
        seconds = self._err_pace.take(len(chunk))
        if seconds:
            self.hold("err", seconds)

    def hold(self, name: str, seconds: float) -> None:
        """Do not read from it for a while: it waits once its pipe is full."""
        if name in self._fds and name not in self._held:
            self._held.add(name)
            self._loop.remove_reader(self._fds[name])
            self._loop.call_later(seconds, self._read_on, name)

    def _read_on(self, name: str) -> None:
        self._held.discard(name)
        if name in self._fds:
            reader = self._read_out if name == "out" else self._read_err
            self._loop.add_reader(self._fds[name], reader)

    def _read(self, name: str) -> bytes | None:
        try:
            return os.read(self._fds[name], READ_SIZE)
        except BlockingIOError:
            return None
        except OSError:
            return b""

    # -- writing -----------------------------------------------------------------------

    def write(self, data: bytes) -> None:
        """Queue bytes for its stdin. Raises BrokenPipeError when none of them was taken."""
        if "in" not in self._fds or self._backlog_size + len(data) > MAX_BACKLOG:
            raise BrokenPipeError
        if self._gathering:
            self._backlog.append(data)
            self._backlog_size += len(data)
            return
        size = self._write_some((data,))
        self._gathering = True
        if size == len(data):
            # What else is written in this turn of the loop goes out together.
            self._loop.call_soon(self._flush)
            return
        self._backlog.append(memoryview(data)[size:])
        self._backlog_size += len(data) - size
        self._wait_for_room()

    def _wait_for_room(self) -> None:
        self._full = True
        self._loop.add_writer(self._fds["in"], self._flush)

    def _write_some(self, parts: Sequence[bytes | memoryview]) -> int:
        try:
            return os.writev(self._fds["in"], parts)
        except BlockingIOError:
            return 0

    def _flush(self) -> None:
        if "in" not in self._fds:
            return
        try:
            while self._backlog:
                if not self._flushed(self._write_some(tuple(islice(self._backlog, MAX_PARTS)))):
                    self._wait_for_room()
                    return
        except OSError:
            self._shut("in")
            self._fail("closed its input")
            return
        if self._full:
            self._full = False
            self._loop.remove_writer(self._fds["in"])
        self._gathering = False

    def _flushed(self, size: int) -> bool:
        """Take what was written off the backlog; False when the pipe is full."""
        self._backlog_size -= size
        full = size == 0
        while size:
            part = self._backlog.popleft()
            if size < len(part):
                self._backlog.appendleft(memoryview(part)[size:])
                full, size = True, len(part)
            size -= len(part)
        return not full

    # -- ending ------------------------------------------------------------------------

    async def stop(self) -> None:
        """Close its stdin, wait, TERM its group, wait, KILL. Returns when nothing is left of it."""
        if self._pid is None:
            return
        self._reported = True
        if self._lookout is not None and not self._exited.is_set():
            self._lookout.look()
        try:
            if not self._exited.is_set():
                self._ask_to_end(self._pid)
            await self._exited.wait()
        finally:
            self._kill()
            await self._exited.wait()
            if self._sweep is not None:
                await asyncio.wait((self._sweep,))

    def _ask_to_end(self, pid: int) -> None:
        if self._ending is None:
            self._ending = Ending(
                self._loop,
                pid,
                lambda: self._shut("in"),
                term_after=STDIN_GRACE,
                kill_after=TERM_GRACE,
            )

    async def gone_within(self, seconds: float) -> bool:
        try:
            await asyncio.wait_for(self._exited.wait(), seconds)
        except TimeoutError:
            return False
        return True

    def _kill(self) -> None:
        if self._pid is not None and not self._exited.is_set():
            signal_group(self._pid, signal.SIGKILL)

    def _on_exit(self, status: int) -> None:
        self._drain()
        self._kill()  # what it left behind in its group
        if self._ending is not None:
            self._ending.cancel()
        if self._forget is not None:
            self._forget()
        self._shut_all()
        self._sweep = self._lookout.end() if self._lookout is not None else None
        self._exited.set()
        self._report(_ended(status))

    def _drain(self) -> None:
        for name, take in (("out", self._feed), ("err", self._tail.extend)):
            room = MAX_DRAIN
            while name in self._fds and room > 0 and (chunk := self._read(name)):
                take(chunk)
                room -= len(chunk)
        del self._tail[:-TAIL_SIZE]

    def _fail(self, reason: str) -> None:
        """It still runs, and is of no more use."""
        if self._exited.is_set():
            return
        self._report(reason)
        self._kill()

    def _report(self, reason: str) -> None:
        if self._reported:
            return
        self._reported = True
        last_line = self.tail.strip().rpartition("\n")[2].strip()
        self._on_end(f"{reason}: {last_line}" if last_line else reason)

    def _shut_all(self) -> None:
        for name in tuple(self._fds):
            self._shut(name)

    def _shut(self, name: str) -> None:
        fd = self._fds.pop(name, None)
        if fd is None:
            return
        self._loop.remove_reader(fd)
        self._loop.remove_writer(fd)
        os.close(fd)


def _ended(status: int) -> str:
    if status >= 0:
        return f"exited with status {status}"
    try:
        return f"was killed by {signal.Signals(-status).name}"
    except ValueError:
        return f"was killed by signal {-status}"
