"""The per-call folder through which a running script and its server talk.

One FIFO carries what the script appends to its progress and log streams: held open
both ways it never blocks a script, keeps the order of what was said, and gives us
events instead of polling. Folders are pooled; one is used again only when it looks new.
"""

from __future__ import annotations

import asyncio
import os
import stat
import time
from collections.abc import Callable, Mapping

from toolyard.files.lines import Lines
from toolyard.files.removing import remove, remove_folder, remove_unfinished
from toolyard.files.stamp import changed_at

STREAM = "stream.ndjson"
ERROR, RESOURCES = "error.json", "resources.json"
CANCEL = "cancelled"
READ_SIZE = 65536
DRAIN_READS = 32
MAX_LINE = 1024 * 1024
MAX_POOLED = 64
CLOCK_TICK = 50_000_000  # ns; two changes closer than this may bear the same time
# The environment variables that name the parts of the folder.
VARIABLES = {
    b"MCP_PROGRESS_STREAM": STREAM,
    b"MCP_LOG_STREAM": STREAM,
    b"MCP_TOOL_ERROR_FILE": ERROR,
    b"MCP_TOOL_RESOURCES_FILE": RESOURCES,
    b"MCP_CANCEL_FILE": CANCEL,
    b"MCP_ELICIT_REQUEST_FILE": "elicit.request",
    b"MCP_ELICIT_RESPONSE_FILE": "elicit.response",
    b"MCP_SAMPLE_REQUEST_FILE": "sample.request",
    b"MCP_SAMPLE_RESPONSE_FILE": "sample.response",
    b"MCP_ROOTS_REQUEST_FILE": "roots.request",
    b"MCP_ROOTS_RESPONSE_FILE": "roots.response",
}


class ExchangeFolder:
    """One folder, for one call at a time."""

    __slots__ = (
        "_asked_at",
        "_dirty",
        "_fifo",
        "_has_spoken",
        "_inodes",
        "_lines",
        "_loop",
        "_made_at",
        "_on_line",
        "_spoke",
        "_stream_at",
        "_taken_at",
        "_written",
        "environ",
        "path",
    )

    def __init__(self, path: str, loop: asyncio.AbstractEventLoop) -> None:
        self.path = path
        self._loop = loop
        self._lines = Lines(self._pass_on, MAX_LINE, lambda: None)
        self._written: list[str] = []
        self._asked_at = 0
        self._on_line: Callable[[bytes], None] = _unheard
        self._dirty = False
        self._spoke = False
        self._has_spoken = False  # in this call
        self._stream_at = 0
        self._taken_at = 0
        self.environ: Mapping[bytes, bytes] = {
            name: os.fsencode(f"{path}/{part}") for name, part in VARIABLES.items()
        }
        os.mkdir(path, 0o700)
        os.mkfifo(f"{path}/{STREAM}", 0o600)
        for name in (ERROR, RESOURCES):
            os.close(os.open(f"{path}/{name}", os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        self._fifo = os.open(f"{path}/{STREAM}", os.O_RDWR | os.O_NONBLOCK)
        try:
            self._inodes = inodes(path)
            self._made_at = changed_at(os.stat(path))
            loop.add_reader(self._fifo, self._readable)
        except OSError:
            os.close(self._fifo)
            raise

    def take(self) -> None:
        self._taken_at = time.time_ns()
        self._asked_at = self._made_at
        self._stream_at = 0
        if self._has_spoken:
            self._lines.clear()
            self._has_spoken = False

    def hear(self, on_line: Callable[[bytes], None]) -> None:
        """What the script says goes there, line by line, until it is ignored."""
        self._on_line = on_line

    def ignore(self) -> None:
        self._on_line = _unheard

    def write(self, name: str, data: bytes) -> bytes:
        """A file that appears whole, and is ours to remove."""
        path = f"{self.path}/{name}"
        partial = f"{path}.partial"
        with open(partial, "wb", opener=private) as file:
            file.write(data)
        os.rename(partial, path)
        self._written.append(path)
        return os.fsencode(path)

    def cancel(self) -> None:
        try:
            self.write(CANCEL, b"")
        except OSError:  # the script took the folder away: nobody will look
            pass

    def read(self, name: str, limit: int) -> bytes | None:
        """What the script put into a file of that name; None where there is no such file."""
        path = f"{self.path}/{name}"
        try:
            status = os.lstat(path)
            if not stat.S_ISREG(status.st_mode):
                return None
            if not status.st_size:
                return b""
            self._dirty = True
            with open(path, "rb") as file:
                return file.read(limit)
        except OSError:
            return None

    def may_have_asked(self, now_ns: int) -> bool:
        """Has the folder changed since the last look, or so recently that a clock may hide it?"""
        try:
            changed_at_ns = changed_at(os.stat(self.path))
        except OSError:
            return False
        previous, self._asked_at = self._asked_at, changed_at_ns
        return changed_at_ns != previous or now_ns - changed_at_ns < 100_000_000

    def remove(self, name: str) -> None:
        remove(f"{self.path}/{name}")

    def finish(self) -> None:
        """Pass on everything the script had written before it ended, line end or not."""
        self.drain()
        if self._has_spoken:
            self._lines.flush()

    def drain(self) -> None:
        """At most a pipe's worth, so that an endless writer cannot hold us."""
        for _ in range(DRAIN_READS):
            if not self._readable():
                return

    def touched(self) -> bool:
        """Did somebody touch the stream since the last look, with nothing to be heard on it?"""
        self.drain()
        previous, self._stream_at = self._stream_at, changed_at(os.fstat(self._fifo))
        spoke, self._spoke = self._spoke, False
        return previous not in (0, self._stream_at) and not spoke

    def _readable(self) -> bool:
        try:
            data = os.read(self._fifo, READ_SIZE)
        except BlockingIOError:
            return False
        self._spoke = self._has_spoken = True
        self._lines.feed(data)
        return True

    def _pass_on(self, line: bytes | bytearray) -> None:
        self._on_line(bytes(line))

    def reset(self) -> bool:
        """Make it as new; False where it is not, and must not be used again."""
        self.ignore()
        for path in self._written:
            remove(path)
        self._written.clear()
        try:
            return self._is_as_new()
        except OSError:
            return False

    def _is_as_new(self) -> bool:
        if self._dirty:
            return False
        changed_at_ns = changed_at(os.stat(self.path))
        if changed_at_ns == self._made_at and self._taken_at - changed_at_ns > CLOCK_TICK:
            return True  # no entry came or went since it was made
        if inodes(self.path) != self._inodes:
            return False
        self._made_at = changed_at_ns
        return True

    def close(self) -> None:
        self._loop.remove_reader(self._fifo)
        os.close(self._fifo)
        remove_folder(self.path)


class ExchangePool:
    """Makes, keeps and hands out the exchanges in the run folder, which somebody else owns."""

    __slots__ = ("_all", "_free", "_loop", "_made", "_root")

    def __init__(self, root: str, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._root = root
        self._free: list[ExchangeFolder] = []
        self._all: set[ExchangeFolder] = set()
        self._made = 0

    def take(self) -> ExchangeFolder:
        exchange = self._free.pop() if self._free else self._make()
        exchange.take()
        return exchange

    def _make(self) -> ExchangeFolder:
        self._made += 1
        path = f"{self._root}/{self._made}"
        try:
            exchange = ExchangeFolder(path, self._loop)
        except OSError:
            remove_unfinished(path, STREAM, ERROR, RESOURCES)
            raise
        self._all.add(exchange)
        return exchange

    def give_back(self, exchange: ExchangeFolder) -> None:
        """Only when the process group that used it is gone."""
        if exchange.reset() and len(self._free) < MAX_POOLED:
            self._free.append(exchange)
        else:
            self.discard(exchange)

    def discard(self, exchange: ExchangeFolder) -> None:
        self._all.discard(exchange)
        exchange.close()

    def close(self) -> None:
        for exchange in self._all:
            exchange.close()
        self._all.clear()
        self._free.clear()


def _unheard(line: bytes) -> None:
    """Nobody listens."""


def inodes(path: str) -> dict[str, int]:
    with os.scandir(path) as entries:
        return {entry.name: entry.inode() for entry in entries}


def private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW, 0o600)
