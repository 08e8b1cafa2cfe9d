"""What a request says of its trace, as far as it may go on: in `_meta`, and as lines of a head."""

from __future__ import annotations

import pytest

from toolyard.http.fetching.client import Url, encode_head
from toolyard.observation.tracing.context import NOWHERE, arrival

PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


@pytest.mark.parametrize("odd", ["a=b\r\nX-Other: 1", "a=b\n", "a=\0", "a=é", "a=" + "b" * 9000])
def test_what_could_be_another_header_does_not_go_on(odd: str) -> None:
    from_meta = arrival({"traceparent": PARENT, "tracestate": odd, "baggage": odd}, None)
    assert from_meta.parent is not None
    assert (from_meta.parent.state, from_meta.baggage) == ("", "")
    assert arrival({"baggage": odd}, None) == NOWHERE


@pytest.mark.parametrize("odd", [PARENT + "\r\nX-Other: 1", PARENT + "\n", PARENT.upper(), 7])
def test_a_parent_that_is_none_begins_a_trace(odd: str | int) -> None:
    assert arrival({"traceparent": odd}, None).parent is None


def test_lines_of_one_request_stand_among_its_headers() -> None:
    url = Url.parse("http://h/mcp")
    plain = encode_head("POST", url, {"A": "1"}, b"x")
    assert plain == b"POST /mcp HTTP/1.1\r\nHost: h\r\nA: 1\r\nContent-Length: 1\r\n\r\n"
    lines = b"\r\ntraceparent: t"
    with_lines = encode_head("POST", url, {"A": "1"}, b"x", lines)
    assert with_lines == plain.replace(b"A: 1", b"A: 1" + lines)
    assert encode_head("GET", url, {}, b"", lines).endswith(b"Host: h\r\ntraceparent: t\r\n\r\n")
