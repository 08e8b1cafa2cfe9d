"""Our ends of a child's pipes: what it prints is kept within bounds, what it reads is fed."""

from __future__ import annotations

import asyncio
import fcntl
import os
import sys
import termios
from collections.abc import Callable

from toolyard.files.lines import Lines

READ_SIZE = 65536
DRAIN_READS = 32  # more than a pipe holds; an endless writer must not hold us
ROOM = 256 * 1024
# Small writes can fill a pipe of 64 KiB before there are that many bytes in it.
FILLING = 16 * 1024
# A longer line of stderr is not passed on.
MAX_LINE = 1024 * 1024


def widen(fd: int, size: int) -> bool:
    """Let a pipe hold this much, if that can be had."""
    try:
        fcntl.fcntl(fd, fcntl.F_SETPIPE_SZ, size)
    except (AttributeError, OSError):  # another system, or too many large pipes already
        return False
    return True


class Incoming:
    """The reading end of one pipe. Read when asked to, or by itself once attended."""

    __slots__ = ("_attended", "_fd", "_loop", "_on_read", "closed")

    def __init__(
        self, loop: asyncio.AbstractEventLoop, fd: int, on_read: Callable[[], None]
    ) -> None:
        self._loop = loop
        self._fd = fd
        self._on_read = on_read
        self._attended = False
        self.closed = False

    def attend(self) -> None:
        if not (self.closed or self._attended):
            self._attended = True
            self._loop.add_reader(self._fd, self._readable)

    def waiting(self) -> int:
        """How many bytes there are to read."""
        if self.closed:
            return 0
        return int.from_bytes(fcntl.ioctl(self._fd, termios.FIONREAD, bytes(4)), sys.byteorder)

    def keep(self, data: bytes) -> None:
        raise NotImplementedError

    def _readable(self) -> None:
        self._read()
        self._on_read()

    def drain(self) -> None:
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
            return True
        self.close()
        return False

    def close(self) -> None:
        if self.closed:
            return
        self.closed = True
        if self._attended:
            self._loop.remove_reader(self._fd)
        os.close(self._fd)


class Collected(Incoming):
    """Keeps everything up to a limit; says when there was more."""

    __slots__ = ("_chunks", "_left", "overflowed")

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        fd: int,
        on_read: Callable[[], None],
        limit: int,
    ) -> None:
        super().__init__(loop, fd, on_read)
        self._chunks: list[bytes] = []
        self._left = limit
        self.overflowed = False

    def keep(self, data: bytes) -> None:
        if self.overflowed:
            return
        self._left -= len(data)
        self.overflowed = self._left < 0
        self._chunks.append(data)

    def make_room(self) -> bool:
        """Let the child say a good deal before anybody has to read."""
        return widen(self._fd, ROOM)

    def value(self) -> bytes:
        return b"".join(self._chunks)


class Heard(Incoming):
    """Keeps nothing: somebody hears every byte as it comes."""

    __slots__ = ("_hears",)

    overflowed = False

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        fd: int,
        on_read: Callable[[], None],
        hears: Callable[[bytes], None],
    ) -> None:
        super().__init__(loop, fd, on_read)
        self._hears = hears

    def keep(self, data: bytes) -> None:
        self._hears(data)

    def value(self) -> bytes:
        return b""


class Tail(Incoming):
    """Keeps the last bytes only; whoever wants to hears every line."""

    __slots__ = ("_limit", "_lines", "_tail")

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        fd: int,
        on_read: Callable[[], None],
        limit: int,
        hears: Callable[[bytes], None] | None,
    ) -> None:
        super().__init__(loop, fd, on_read)
        self._tail = b""
        self._limit = limit
        self._lines: Lines | None = None
        if hears is not None:
            self._lines = Lines(lambda line: hears(bytes(line)), MAX_LINE, lambda: None)

    def keep(self, data: bytes) -> None:
        if self._limit:
            self._tail = (self._tail + data)[-self._limit :]
        if self._lines is not None:
            self._lines.feed(data)

    def value(self) -> bytes:
        if self._lines is not None:
            self._lines.flush()
        return self._tail


class Feed:
    """Writes bytes to the child's stdin as fast as it takes them; closes it after the last.

    With `more`, others may follow (`add`) until `finish` is called.
    """

    __slots__ = ("_fd", "_left", "_loop", "_more")

    def __init__(
        self, loop: asyncio.AbstractEventLoop, fd: int, data: bytes, *, more: bool = False
    ) -> None:
        self._loop = loop
        self._fd = fd
        self._left = memoryview(data)
        self._more = more
        try:
            loop.add_writer(fd, self._write)
        except OSError:
            os.close(fd)
            raise

    def add(self, data: bytes) -> None:
        """Nothing happens where the child has closed its end."""
        if self._fd >= 0:
            if not self._left:
                self._loop.add_writer(self._fd, self._write)
            self._left = memoryview(bytes(self._left) + data)

    def finish(self) -> None:
        """Close it once everything is written."""
        self._more = False
        if not self._left:
            self.close()

    def _write(self) -> None:
        try:
            self._left = self._left[os.write(self._fd, self._left) :]
        except BlockingIOError:
            return
        except BrokenPipeError:
            self.close()
            return
        if not self._left:
            if self._more:
                self._loop.remove_writer(self._fd)
            else:
                self.close()

    def close(self) -> None:
        if self._fd < 0:
            return
        self._loop.remove_writer(self._fd)
        os.close(self._fd)
        self._fd = -1
