"""Cut a byte stream into lines, however long they are. Knows nothing about what they say."""

from __future__ import annotations

from collections.abc import Callable


class TooLong(Exception):
    """A line that does not end."""


class Lines:
    """Cuts a byte stream into lines. A long one is gathered in place, never copied again."""

    def __init__(self, on_line: Callable[[bytes | bytearray], None], max_size: int) -> None:
        self._on_line = on_line
        self._max_size = max_size
        self._rest = bytearray()

    def feed(self, chunk: bytes) -> None:
        start = 0
        while (end := chunk.find(b"\n", start)) >= 0:
            self._on_line(self._complete(chunk, start, end))
            start = end + 1
        if start < len(chunk):
            self._rest += memoryview(chunk)[start:]
            if len(self._rest) > self._max_size:
                self._rest = bytearray()  # at once: whoever holds us may live on
                raise TooLong

    def _complete(self, chunk: bytes, start: int, end: int) -> bytes | bytearray:
        if not self._rest:
            return chunk[start:end]
        line, self._rest = self._rest, bytearray()
        line += memoryview(chunk)[start:end]
        return line
