"""Answers of servers in, the text of their results out."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from toolyard.protocol.codec import MAX_CONTAINERS, loads
from toolyard.protocol.revisions import ALL, LATEST
from toolyard.protocol.shape import Preamble, preamble_of, shape_result
from toolyard.protocol.verbatim import Verbatim, answer_in, passed_on

ODD = (
    b'{"content":[{"type":"text","text":"\\u00e9 \\/ \\ud800"}],'
    b'"b":1E2, "a":%d,"a":1.0,"\xc3\xa9":{}}' % 10**30
)
PLAIN = b'{"content":[],"isError":false}'
LONG = b'{"content":[{"type":"text","text":"%b"}],"n":%d}' % (b"x" * 50_000, 10**30)
LONG_AND_ODD = b'{"x":"%b",%b' % (b"\\n" * 50_000, ODD[1:])
LONG_LIST = b'{"content":[],"numbers":[%b]}' % b",".join(b"%d.5" % n for n in range(10_000))
OLDEST = "2024-11-05"
STAMP = {"io.modelcontextprotocol/serverInfo": {"name": "us", "version": "1"}}


@pytest.mark.parametrize(
    "text", [ODD, PLAIN, b"{}", LONG, LONG_AND_ODD, LONG_LIST], ids=lambda text: str(text[:20])
)
@pytest.mark.parametrize(
    "envelope",
    [
        b'{"jsonrpc":"2.0","id":7,"result":%b}',
        b'{"result":%b,"jsonrpc":"2.0","id":7}',
        b' { "jsonrpc" : "2.0" , "id" : 7 , "result" : %b } \n',
        b'{"result": %b, "jsonrpc": "2.0", "id": 7}\r\n',
    ],
)
def test_the_text_of_a_result_is_kept(envelope: bytes, text: bytes) -> None:
    answer = answer_in(bytearray(envelope % text))
    assert answer is not None and answer["id"] == 7
    assert answer["result"].text == text
    if text not in (ODD, LONG_AND_ODD):  # half a pair is nothing that a value could hold
        assert answer["result"] == loads(text)


def test_a_long_result_is_not_copied() -> None:
    line = bytearray(b'{"jsonrpc":"2.0","id":7,"result":%b}' % LONG)
    answer = answer_in(line)
    assert answer is not None
    line[-3:-2] = b"!"
    assert bytes(answer["result"].text).endswith(b"!}")


@pytest.mark.parametrize(
    "line",
    [
        b'{"jsonrpc":"2.0","id":"7","result":{}}',
        b'{"jsonrpc":"2.0","id":7,"result":[]}',
        b'{"jsonrpc":"2.0","id":7,"result":{},"id":8}',
        b'{"jsonrpc":"2.0","id":7,"result":{},"more":{}}',
        b'{"jsonrpc":"2.0","id":7,"error":{}}',
        b'{"result":{},"id":7,"jsonrpc":"2.0"}',
        b'{"result":{"a":{},"jsonrpc":"2.0","id":7}',
        b'{"jsonrpc":"2.0","id":7,"result":{"a":\n1}}',
        b'{"jsonrpc":"2.0","id":7,"result":{"a":1}',
        b'{"jsonrpc":"2.0","id":7,"result":{"a":"\\ud800}}',
        b'{"jsonrpc":"2.0","id":7,"result":{"a":NaN,"b":"\\ud800"}}',
        b'{"jsonrpc":"2.0","id":7,"result":' + b'{"a":' * 201 + b"1" + b"}" * 202,
        # The same where a result is long.
        b'{"jsonrpc":"2.0","id":7,"result":{"a":"%b"\n}}' % (b"x" * 50_000),
        b'{"jsonrpc":"2.0","id":7,"result":{"a":"%b"\r}}' % (b"x" * 50_000),
        b'{"jsonrpc":"2.0","id":7,"result":{"a":"%b}}' % (b"x" * 50_000),
        b'{"jsonrpc":"2.0","id":7,"result":{"a":"%b\xff"}}' % (b"x" * 50_000),
        b'{"jsonrpc":"2.0","id":7,"result":{"a":"%b"},"id":8}' % (b"x" * 50_000),
        b'{"jsonrpc":"2.0","id":7,"result":' + b'{"a":' * 8000 + b"1" + b"}" * 8001,
        b"[]",
        b"",
    ],
    ids=lambda line: f"{line[:70]}{len(line)}",
)
def test_what_has_another_form_is_left_to_the_ordinary_way(line: bytes) -> None:
    assert answer_in(line) is None


def _fit(text: bytes, date: str, method: str = "tools/call") -> bytes | None:
    result = Verbatim.of(loads(text), text)
    passed = passed_on(result, shape_result(method, result, ALL[date], STAMP))
    return None if passed is None else bytes(passed)


def test_what_need_not_change_is_passed_on_as_it_is() -> None:
    assert _fit(PLAIN, "2025-11-25") == PLAIN
    image = b'{"content":[{"type":"image","data":"","mimeType":"image/png"}],"x":1}'
    assert _fit(image, "2024-11-05") == image


def test_what_a_revision_adds_is_written_before_the_text() -> None:
    text = _fit(PLAIN, LATEST.date)
    assert text is not None and text.endswith(b'},"content":[],"isError":false}')
    assert loads(text) == {"resultType": "complete", "_meta": STAMP, **loads(PLAIN)}


@pytest.mark.parametrize(
    ("text", "date"),
    [
        (b'{"content":[],"resultType":"complete"}', "2025-11-25"),
        (b'{"content":[],"structuredContent":[1]}', "2025-06-18"),
        (b'{"content":[{"type":"audio","data":""}]}', "2024-11-05"),
        (b'{"_meta":{"a":1},"content":[]}', LATEST.date),
        (b'{"isError":true,"content":null}', "2025-11-25"),
        (b"{}", LATEST.date),
        # What is left is as large as what was dropped, and even the same.
        (
            b'{"content":[{"type":"text"}],"structuredContent":{"content":[{"type":"text"}]}}',
            OLDEST,
        ),
    ],
)
def test_what_has_to_change_is_written_anew(text: bytes, date: str) -> None:
    assert _fit(text, date) is None


RESULTS = [
    PLAIN,
    b"{}",
    b'{"content":null}',
    b'{"isError":true}',
    b'{ "content":[],"_meta":{"a":1}}',
    b'{"content":[],"resultType":"complete","x":1}',
    b'{"resultType":"input_required","inputRequests":{}}',
    b'{"content":[],"ttlMs":5}',
    b'{"content":[],"structuredContent":[1]}',
    b'{"content":[],"structuredContent":{}}',
    b'{"structuredContent":{}}',
    b'{"content":[{"type":"audio","data":""}]}',
    b'{"content":[{"type":"text","annotations":{"lastModified":"now"}}]}',
    b'{"contents":[]}',
    b'{"messages":[{"role":"user","content":{"type":"audio"}}]}',
]


@pytest.mark.parametrize("method", ["tools/call", "prompts/get", "resources/read", "tasks/result"])
@pytest.mark.parametrize("date", ALL)
def test_the_short_way_says_what_the_long_one_would(date: str, method: str) -> None:
    preamble, short = Preamble.of(STAMP), 0
    for text in RESULTS:
        begins = preamble_of(method, loads(text), ALL[date], preamble)
        if begins is not None:
            short += 1
            assert begins + text[1:] == _fit(text, date, method)
    takes_short_way = date == LATEST.date or (method == "tools/call" and date >= "2025-06-18")
    assert bool(short) == (takes_short_way and method != "resources/read")


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        (b'{"_meta":{"a":1},"content":[]}', b'{"content":[]}'),
        (b'{"content":[],"_meta":{"a":1}}', b'{"content":[]}'),
        # Not sure which, not written as we would, or nothing left: by the value.
        (b'{"a":1,"_meta":{"a":1},"content":[]}', None),
        (b'{"a":{"_meta":{"a":1},"b":2},"\\u005fmeta":{"a":1}}', None),
        (b'{"_meta":{"a":1},"content":[],"_meta":{"a":1}}', None),
        (b'{"_meta":{"a":1},"content":[{"_meta":{"a":1}}]}', None),
        (b'{"_meta":{"a": 1},"content":[]}', None),
        (b'{"_meta":{"a":1}}', None),
    ],
)
def test_a_member_is_cut_out_where_its_place_is_certain(text: bytes, rest: bytes | None) -> None:
    result = Verbatim.of(loads(text), text).without("_meta")
    assert result == {key: value for key, value in loads(text).items() if key != "_meta"}
    assert (result.text if isinstance(result, Verbatim) else None) == rest


CHANGES: list[Callable[[Verbatim], object]] = [
    lambda result: result.__setitem__("isError", True),
    lambda result: result.__delitem__("isError"),
    lambda result: result.__ior__({"isError": True}),
    lambda result: result.update(isError=True),
    lambda result: result.setdefault("more", 1),
    lambda result: result.pop("isError"),
    lambda result: result.popitem(),
    lambda result: result.clear(),
]


@pytest.mark.parametrize("change", CHANGES)
def test_a_result_with_a_text_cannot_be_changed_by_mistake(
    change: Callable[[Verbatim], object],
) -> None:
    result = Verbatim.of(loads(PLAIN), PLAIN)
    with pytest.raises(TypeError):
        change(result)
    assert result == loads(PLAIN)


def test_half_a_pair_is_a_question_mark_in_the_value() -> None:
    answer = answer_in(
        b'{"jsonrpc":"2.0","id":7,"result":{"a":"x\\udc00\\ud83d\\ude00","\\uD800":1}}'
    )
    assert answer is not None and answer["result"] == {"a": "x?😀", "?": 1}


def test_too_many_objects_are_refused_before_they_are_made() -> None:
    many = b"{}," * MAX_CONTAINERS + b"{}"
    line = b'{"jsonrpc":"2.0","id":7,"result":{"a":"\\ud800","b":[%b]}}' % many
    assert answer_in(line) is None
