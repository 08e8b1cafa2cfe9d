"""Cut a byte stream into lines, within a bound. Knows nothing about what they say.

Everything that comes in lines is cut here: from clients, from other servers, from scripts, and
in event streams. A line over the bound costs no memory: what has come of it is dropped at once,
and the rest is skipped as it comes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn


class TooLong(Exception):
    """A line over the bound."""


def refuse() -> NoReturn:
    raise TooLong


class Lines:
    """Cuts a byte stream into lines. A long one is gathered in place, never copied again."""

    __slots__ = ("_buffer", "_max_size", "_on_line", "_on_long", "_skips")

    def __init__(
        self,
        on_line: Callable[[bytes | bytearray], None],
        max_size: int,
        on_long: Callable[[], None] = refuse,
    ) -> None:
        """`on_long` is called once for each line, as soon as it is over the bound."""
        self._on_line = on_line
        self._max_size = max_size
        self._on_long = on_long
        self._buffer = bytearray()
        self._skips = False  # until the end of a line that was too long

    def feed(self, chunk: bytes) -> None:
        start = 0
        while (end := chunk.find(b"\n", start)) >= 0:
            if self._buffer or self._skips or end - start > self._max_size:
                self._complete(chunk, start, end)
            else:  # nearly always, and of all steps of a message this one is the most frequent
                self._on_line(chunk[start:end])
            start = end + 1
        if start < len(chunk) and not self._skips:
            self._buffer += memoryview(chunk)[start:]
            if len(self._buffer) > self._max_size:
                self.clear()  # at once: our owner may live on
                self._skips = True
                self._on_long()

    def flush(self) -> None:
        """The stream has ended: what is left is a line too."""
        if self._buffer:
            self._complete(b"", 0, 0)
        self._skips = False

    def clear(self) -> None:
        """Forget what is left: another stream begins."""
        self._buffer = bytearray()
        self._skips = False

    def _complete(self, chunk: bytes, start: int, end: int) -> None:
        if self._skips:
            self._skips = False
            return
        line: bytes | bytearray
        if self._buffer:
            line, self._buffer = self._buffer, bytearray()
            line += memoryview(chunk)[start:end]
        else:
            line = chunk[start:end]
        if len(line) > self._max_size:
            self._on_long()
        else:
            self._on_line(line)
