"""Event streams, as tables of bytes in and events out."""

from __future__ import annotations

import pytest

from toolyard.files.lines import TooLong
from toolyard.http.events import EventParser, ServerSentEvent

CASES: list[tuple[bytes, list[ServerSentEvent]]] = [
    (b"data: a\n\n", [ServerSentEvent("message", b"a")]),
    (b"data:a\r\n\r\n", [ServerSentEvent("message", b"a")]),
    (b"data: a\r\r", [ServerSentEvent("message", b"a")]),
    (b"\xef\xbb\xbfdata: a\n\n", [ServerSentEvent("message", b"a")]),
    (b"event: endpoint\ndata: /m?x=1\n\n", [ServerSentEvent("endpoint", b"/m?x=1")]),
    (b"data: a\ndata: b\n\n", [ServerSentEvent("message", b"a\nb")]),
    (b"id: 7\ndata:\nretry: 1500\n\n", [ServerSentEvent("message", b"", "7", 1.5)]),
    (b"id: 7\n\n", [ServerSentEvent("message", b"", "7")]),
    (b"id: a\0b\ndata: x\n\n", [ServerSentEvent("message", b"x")]),
    (b": ping\r\n\r\ndata: a\n\n", [ServerSentEvent("message", b"a")]),
    (
        b"data: a\n\ndata: b\n\n",
        [ServerSentEvent("message", b"a"), ServerSentEvent("message", b"b")],
    ),
    (b"data\n\n", [ServerSentEvent("message", b"")]),
    (b"retry: soon\ndata: x: y\nunknown: z\n\n", [ServerSentEvent("message", b"x: y")]),
    (b"data: never ended\n", []),
]


@pytest.mark.parametrize(("stream", "events"), CASES)
@pytest.mark.parametrize("size", [1, 2, 3, 1000])
def test_a_stream_means_the_same_however_it_is_cut(
    stream: bytes, events: list[ServerSentEvent], size: int
) -> None:
    parser = EventParser(max_size=1000)
    found: list[ServerSentEvent] = []
    for start in range(0, len(stream), size):
        found += parser.feed(stream[start : start + size])
    assert found == events


def test_a_line_without_an_end_is_refused() -> None:
    parser = EventParser(max_size=100)
    with pytest.raises(TooLong):
        for _ in range(3):
            parser.feed(b"x" * 50)
