"""Event streams (text/event-stream), written, and parsed as they arrive. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from toolyard.files.lines import Lines, TooLong
from toolyard.http.headers import Header

EVENT_HEADERS: tuple[Header, ...] = (
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-cache, no-transform"),
    (b"x-accel-buffering", b"no"),
)
KEEP_ALIVE = b": keep-alive\n\n"
BOM = b"\xef\xbb\xbf"
# An id is sent back in a header.
MAX_ID = 4096
MAX_DIGITS = 12


def event(message: bytes, event_id: str | None = None, name: str = "message") -> bytes:
    """One server-sent event; the message has no line breaks."""
    head = f"id: {event_id}\n" if event_id is not None else ""
    return f"{head}event: {name}\ndata: ".encode() + message + b"\n\n"


@dataclass(frozen=True, slots=True)
class ServerSentEvent:
    kind: str
    data: bytes | bytearray
    id: str | None = None
    retry: float | None = None  # seconds


class EventParser:
    """Takes the bytes of one stream as they come, and gives the events that they complete."""

    def __init__(self, max_size: int) -> None:
        self._lines = Lines(self._on_line, max_size)
        self._max_size = max_size
        self._events: list[ServerSentEvent] = []
        self._started = self._after_cr = False
        self._clear()

    def _clear(self) -> None:
        self._kind = ""
        self._data: list[bytes | bytearray] = []
        self._size = 0
        self._id: str | None = None
        self._retry: float | None = None

    def feed(self, chunk: bytes) -> list[ServerSentEvent]:
        """The events that this chunk completes. Raises TooLong."""
        self._lines.feed(self._normalised(chunk))
        events, self._events = self._events, []
        return events

    def _normalised(self, chunk: bytes) -> bytes:
        """CR, LF and CRLF all end a line, even if a chunk ends between CR and LF."""
        if self._after_cr and chunk.startswith(b"\n"):
            chunk = chunk[1:]
        self._after_cr = chunk.endswith(b"\r")
        if b"\r" in chunk:
            chunk = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        return chunk

    def _on_line(self, line: bytes | bytearray) -> None:
        if not self._started:
            self._started = True
            line = line.removeprefix(BOM)
        if not line:
            self._dispatch()
            return
        end = line.find(b":")
        if end == 0:
            return
        field = bytes(line if end < 0 else line[:end])
        if field == b"data":
            self._add(_value(line, end))
        elif field == b"event":
            self._kind = bytes(_value(line, end)).decode("utf-8", "replace")
        elif field == b"id":
            value = bytes(_value(line, end))
            odd = b"\0" in value or len(value) > MAX_ID
            self._id = None if odd else value.decode("utf-8", "replace")
        elif field == b"retry":
            value = bytes(_value(line, end))
            self._retry = int(value[:MAX_DIGITS]) / 1000 if value.isdigit() else None

    def _add(self, data: bytes | bytearray) -> None:
        self._size += len(data) + 1
        if self._size > self._max_size:
            self._clear()
            raise TooLong
        self._data.append(data)

    def _dispatch(self) -> None:
        if self._data or self._id is not None or self._retry is not None:
            data = self._data[0] if len(self._data) == 1 else b"\n".join(self._data)
            self._events.append(
                ServerSentEvent(self._kind or "message", data, self._id, self._retry)
            )
        self._clear()


def _value(line: bytes | bytearray, end: int) -> bytes | bytearray:
    if end < 0:
        return b""
    start = end + 2 if line[end + 1 : end + 2] == b" " else end + 1
    if isinstance(line, bytearray):
        del line[:start]  # in place: it may be long
        return line
    return line[start:]
