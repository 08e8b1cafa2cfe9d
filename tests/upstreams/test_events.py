"""Event streams, as tables of bytes in and events out."""

from __future__ import annotations

import pytest

from toolyard.files.lines import TooLong
from toolyard.http.events import Event, EventParser

CASES: list[tuple[bytes, list[Event]]] = [
    (b"data: a\n\n", [Event("message", b"a")]),
    (b"data:a\r\n\r\n", [Event("message", b"a")]),
    (b"data: a\r\r", [Event("message", b"a")]),
    (b"\xef\xbb\xbfdata: a\n\n", [Event("message", b"a")]),
    (b"event: endpoint\ndata: /m?x=1\n\n", [Event("endpoint", b"/m?x=1")]),
    (b"data: a\ndata: b\n\n", [Event("message", b"a\nb")]),
    (b"id: 7\ndata:\nretry: 1500\n\n", [Event("message", b"", "7", 1.5)]),
    (b"id: 7\n\n", [Event("message", b"", "7")]),
    (b"id: a\0b\ndata: x\n\n", [Event("message", b"x")]),
    (b": ping\r\n\r\ndata: a\n\n", [Event("message", b"a")]),
    (b"data: a\n\ndata: b\n\n", [Event("message", b"a"), Event("message", b"b")]),
    (b"data\n\n", [Event("message", b"")]),
    (b"retry: soon\ndata: x: y\nunknown: z\n\n", [Event("message", b"x: y")]),
    (b"data: never ended\n", []),
]


@pytest.mark.parametrize(("stream", "events"), CASES)
@pytest.mark.parametrize("size", [1, 2, 3, 1000])
def test_a_stream_means_the_same_however_it_is_cut(
    stream: bytes, events: list[Event], size: int
) -> None:
    parser = EventParser(max_size=1000)
    found: list[Event] = []
    for start in range(0, len(stream), size):
        found += parser.feed(stream[start : start + size])
    assert found == events


def test_a_line_without_an_end_is_refused() -> None:
    parser = EventParser(max_size=100)
    with pytest.raises(TooLong):
        for _ in range(3):
            parser.feed(b"x" * 50)
