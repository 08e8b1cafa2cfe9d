"""JSON text in, values out. How long it takes with what is hostile is in attacks/."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from tests.protocol.outcome import Refusal, outcome
from toolyard.protocol.codec import PART, dumps, exact, in_parts, loads

ENORMOUS = 10**400


@pytest.mark.parametrize(
    ("data", "value"),
    [
        (b"1", 1),
        (b' {"a": [true, null]}\r\n', {"a": [True, None]}),
        (b'"\\ud83d\\ude00"', "😀"),
        (b'{"a":1,"a":2}', {"a": 2}),
        # Integers stay integers, however long.
        (b"9223372036854775808", 2**63),
        (b"-18446744073709551617", -(2**64) - 1),
        (b"[1%b]" % (b"0" * 400), [ENORMOUS]),
        (b'{"n":1180591620717411303424,"t":"x"}', {"n": 2**70, "t": "x"}),
        # Digits in a text, or behind a point, are no reason for anything.
        (b'"1234567890123456789012"', "1234567890123456789012"),
        (b"0.1234567890123456789012", 0.1234567890123456789012),
        (b"1e3", 1000.0),
        (b"\xef\xbb\xbf[1]", [1]),
    ],
)
def test_text_becomes_a_value(data: bytes, value: Any) -> None:
    read = loads(data)
    assert read == value
    assert type(read) is type(value)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"nul",
        b"NaN",
        b"Infinity",
        b"'a'",
        b"[1,]",
        b"01",
        b'"\x01"',
        b'"\\ud800"',
        b"\xff",
        b"\xef\xbb\xbf\xef\xbb\xbf1",
        b"[1%b, NaN]" % (b"0" * 400),
        b"[1%b, 1e999]" % (b"0" * 400),
    ],
)
def test_what_is_not_json_is_a_parse_error(data: bytes) -> None:
    refused = outcome(loads, data)
    assert (refused.code, refused.message) == (-32700, "Parse error")
    with pytest.raises(ValueError, match=r".+"):
        exact(data)


def nested(levels: int, inside: bytes = b"") -> bytes:
    return b"[" * levels + inside + b"]" * levels


TOO_DEEP = Refusal(-32600, "Nested deeper than 200 levels")


@pytest.mark.parametrize(
    ("data", "refused"),
    [
        (nested(200), None),
        (nested(201), TOO_DEEP),
        (b'{"a":' * 201 + b"1" + b"}" * 201, TOO_DEEP),
        # One level may have many, one after the other, and one of them may be deep.
        (b"[" + b",".join([b"[]"] * 300) + b"]", None),
        (b"[" + b",".join([b"[]"] * 300) + b"," + nested(199) + b"]", None),
        (b"[" + b",".join([b"[]"] * 300) + b"," + nested(200) + b"]", TOO_DEEP),
        # Brackets in texts are none.
        (nested(200, b'"' + b"[" * 500 + b'"'), None),
        (nested(200, b'"\\"' + b"[" * 500 + b'"'), None),
        (nested(201, b'"' + b"]" * 500 + b'"'), TOO_DEEP),
        (nested(100_000, b"1" + b"0" * 400), TOO_DEEP),
    ],
    ids=map(str, range(10)),
)
def test_depth_is_bounded(data: bytes, refused: Refusal | None) -> None:
    said = outcome(loads, data)
    assert (said if isinstance(said, Refusal) else None) == refused


# Beside a long text, where the value is looked at in place of its bytes.
LONG = b'"' + b"[1234567890123456789012" * 1000 + b'"'


@pytest.mark.parametrize(
    ("data", "result"),
    [
        (b"[%b,1%b]" % (LONG, b"0" * 22), 10**22),
        (b"[%b,[[%d]]]" % (LONG, -(2**64)), [[-(2**64)]]),
        (b"[%b,[1.5]]" % LONG, [1.5]),
        (b"[%b,%b]" % (LONG, nested(199)), orjson.loads(nested(199))),
        (b"[%b,%b]" % (LONG, nested(200)), TOO_DEEP),
        (b'{"a":%b,"b":%b}' % (LONG, b'{"a":' * 200 + b"1" + b"}" * 200), TOO_DEEP),
        (b"[%b,[%b]]" % (LONG, b",".join([b"{}"] * 5000)), [{}] * 5000),
    ],
    ids=map(str, range(7)),
)
def test_a_long_text_hides_neither_numbers_nor_depth(data: bytes, result: Any) -> None:
    value = outcome(loads, data)
    assert (value if isinstance(value, Refusal) else list(value)[-1]) == result


@pytest.mark.parametrize(
    ("value", "option", "data"),
    [
        ({"b": 1, "a": "ü"}, 0, b'{"b":1,"a":"\xc3\xbc"}'),
        ({"b": 1, "a": 2}, orjson.OPT_SORT_KEYS, b'{"a":2,"b":1}'),
        ([1], orjson.OPT_INDENT_2, b"[\n  1\n]"),
        # The slow road leads to the same.
        ({"b": 2**64, "a": "ü"}, 0, b'{"b":18446744073709551616,"a":"\xc3\xbc"}'),
        ({"b": 2**64, "a": 2}, orjson.OPT_SORT_KEYS, b'{"a":2,"b":18446744073709551616}'),
        ([2**64], orjson.OPT_INDENT_2, b"[\n  18446744073709551616\n]"),
        ({"a": [2**64]}, orjson.OPT_INDENT_2, b'{\n  "a": [\n    18446744073709551616\n  ]\n}'),
        ("\ud800", 0, b'"?"'),
    ],
)
def test_values_become_text(value: Any, option: int, data: bytes) -> None:
    assert dumps(value, option) == data


@pytest.mark.parametrize("count", [0, 1, PART, PART + 1, 3 * PART])
def test_parts_are_the_items_of_one_list(count: int) -> None:
    items = [{"n": number} for number in range(count)]
    parts = list(in_parts(items))
    assert len(parts) == -(-count // PART)
    assert b"[" + b",".join(parts) + b"]" == dumps(items)
