"""Header values and arguments: their codec, and when they say the same."""

from __future__ import annotations

from typing import Any

import pytest

from tests.protocol.outcome import outcome
from toolyard.errors import HEADER_MISMATCH
from toolyard.protocol.eras.headers import (
    check_parameters,
    decode_value,
    encode_value,
    header_parameters,
    parameters,
)
from toolyard.protocol.eras.modern import check_routing


@pytest.mark.parametrize(
    ("value", "header"),
    [
        ("plain", "plain"),
        ("a b\tc", "a b\tc"),
        ("~", "~"),
        (7, "7"),
        (-1.5, "-1.5"),
        (True, "true"),
        (False, "false"),
        ("=?base64?YQ==", "=?base64?YQ=="),
        # What a header cannot carry, or would lose, goes packed.
        ("", "=?base64??="),
        (" a", "=?base64?IGE=?="),
        ("a\t", "=?base64?YQk=?="),
        ("ü", "=?base64?w7w=?="),
        ("a\nb", "=?base64?YQpi?="),
        ("a\n", "=?base64?YQo=?="),
        ("\x7f", "=?base64?fw==?="),
        ("=?base64?YQ==?=", "=?base64?PT9iYXNlNjQ/WVE9PT89?="),
    ],
)
def test_a_value_and_its_header(value: Any, header: str) -> None:
    assert encode_value(value) == header
    if isinstance(value, str):
        assert decode_value(header) == value


@pytest.mark.parametrize(
    ("header", "text"),
    [
        ("  spaced\t", "spaced"),
        (" =?base64?YQ==?= ", "a"),
        # Without both ends it is nothing but a text.
        ("=?base64?YQ==", "=?base64?YQ=="),
        ("YQ==?=", "YQ==?="),
        ("=?BASE64?YQ==?=", "=?BASE64?YQ==?="),
    ],
)
def test_a_header_stands_for_a_text(header: str, text: str) -> None:
    assert decode_value(header) == text


@pytest.mark.parametrize(
    "header", ["=?base64?YQ?=", "=?base64?Y Q==?=", "=?base64?%%%%?=", "=?base64?/w==?="]
)
def test_what_is_packed_wrongly_is_refused(header: str) -> None:
    refused = outcome(decode_value, header)
    assert refused == (
        HEADER_MISMATCH,
        f"Header mismatch: {header!r} is not valid base64 of UTF-8",
        None,
    )


CALL = {"mcp-protocol-version": "V", "mcp-method": "tools/call", "mcp-name": "add"}
LISTING = {"mcp-protocol-version": "V", "mcp-method": "tools/list"}
READING = {**LISTING, "mcp-method": "resources/read", "mcp-name": "file:///a"}
PACKED = {
    "mcp-protocol-version": "=?base64?Vg==?=",
    "mcp-method": "=?base64?dG9vbHMvY2FsbA==?=",
    "mcp-name": "=?base64?YWRk?=",
}
LITERAL = "=?base64?YWRk?="


@pytest.mark.parametrize(
    ("headers", "method", "params", "wrong"),
    [
        (CALL, "tools/call", {"name": "add"}, None),
        (PACKED, "tools/call", {"name": "add"}, None),
        ({**CALL, "mcp-name": " add "}, "tools/call", {"name": "add"}, None),
        (LISTING, "tools/list", {}, None),
        (READING, "resources/read", {"uri": "file:///a"}, None),
        # A name that is no text is for whoever looks for the tool.
        (CALL, "tools/call", {}, None),
        (CALL, "tools/call", {"name": 7}, None),
        ({}, "tools/call", {"name": "add"}, "the mcp-protocol-version header is missing"),
        ({"mcp-protocol-version": "V"}, "tools/list", {}, "the mcp-method header is missing"),
        (LISTING, "tools/call", {}, "mcp-method header value 'tools/list' does not match"),
        (CALL, "tools/list", {}, "mcp-method header value 'tools/call' does not match"),
        ({**CALL, "mcp-protocol-version": "W"}, "tools/call", {}, "mcp-protocol-version header"),
        ({**CALL, "mcp-method": "Tools/Call"}, "tools/call", {}, "mcp-method header value"),
        (CALL, "tools/call", {"name": "Add"}, "mcp-name header value 'add' does not match"),
        (READING, "resources/read", {"uri": "b"}, "mcp-name header value 'file:///a'"),
        # Clients in the field do not name the task; whoever names one must name this one.
        ({**LISTING, "mcp-method": "tasks/get"}, "tasks/get", {"taskId": "t"}, None),
        ({**LISTING, "mcp-method": "tasks/update"}, "tasks/update", {"taskId": "t"}, None),
        ({**LISTING, "mcp-method": "tasks/cancel"}, "tasks/cancel", {"taskId": "t"}, None),
        ({**CALL, "mcp-method": "tasks/get"}, "tasks/get", {"taskId": "t"}, "mcp-name header"),
        ({**LISTING, "mcp-method": "prompts/get"}, "prompts/get", {"name": "p"}, "the mcp-name"),
        # A tool may be called like a packed header; its header is packed once more then.
        ({**CALL, "mcp-name": LITERAL}, "tools/call", {"name": LITERAL}, "mcp-name header"),
        ({**CALL, "mcp-name": encode_value(LITERAL)}, "tools/call", {"name": LITERAL}, None),
    ],
)
def test_headers_and_body_say_the_same(
    headers: dict[str, str], method: str, params: dict[str, Any], wrong: str | None
) -> None:
    refused = outcome(check_routing, headers, method, params, "V")
    if wrong is None:
        assert refused is None
    else:
        assert refused.code == HEADER_MISMATCH
        assert refused.message.startswith(f"Header mismatch: {wrong}")


def on(name: Any, type_: str = "string", **more: Any) -> dict[str, Any]:
    return {"type": type_, "x-mcp-header": name, **more}


def schema(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


NO_CHAIN = "x-mcp-header is somewhere that no plain chain of properties leads to"
NO_TOKEN = "x-mcp-header must be a header token, not "
NO_TYPE = "x-mcp-header 'A' is on a type that no header can carry"


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        (schema(), {}),
        (schema(a={"type": "string"}), {}),
        (schema(a=on("Region")), {("a",): "Region"}),
        (schema(a=on("A"), b=on("B", "integer")), {("a",): "A", ("b",): "B"}),
        (schema(a=schema(b=on("Deep", "boolean"))), {("a", "b"): "Deep"}),
        # A property may have the annotation's name.
        (schema(**{"x-mcp-header": {"type": "string"}}), {}),
        (None, {}),
        ([], {}),
        ({"properties": 7}, {}),
        (schema(a=on("A"), b=on("a")), "x-mcp-header names are not unique"),
        (schema(a=on("no token")), NO_TOKEN + "'no token'"),
        (schema(a=on("")), NO_TOKEN + "''"),
        (schema(a=on("A\n")), NO_TOKEN + "'A\\n'"),
        (schema(a=on(7)), NO_TOKEN + "7"),
        (schema(a=on("A", "number")), NO_TYPE),
        (schema(a=on("A", "array")), NO_TYPE),
        (schema(a={"x-mcp-header": "A"}), NO_TYPE),
        (schema(a={"type": "array", "items": on("A")}), NO_CHAIN),
        ({"anyOf": [schema(a=on("A"))]}, NO_CHAIN),
        ({"$defs": {"a": on("A")}}, NO_CHAIN),
    ],
)
def test_a_schema_says_which_arguments_have_headers(given: Any, wanted: Any) -> None:
    try:
        assert header_parameters(given) == wanted
    except ValueError as error:
        assert str(error) == wanted


WANTED = {("a",): "A", ("b", "c"): "Deep"}
BIG = 2**53 + 1


@pytest.mark.parametrize(
    ("headers", "arguments", "wrong"),
    [
        ({}, {}, None),
        ({}, {"a": None, "b": 7}, None),
        ({"mcp-param-a": "x"}, {"a": "x"}, None),
        ({"mcp-param-a": "=?base64?eA==?="}, {"a": "x"}, None),
        ({"mcp-param-deep": "1"}, {"b": {"c": 1}}, None),
        # Numbers by their value, as far as floats tell them apart.
        ({"mcp-param-a": "1.0"}, {"a": 1}, None),
        ({"mcp-param-a": "1"}, {"a": 1.0}, None),
        ({"mcp-param-a": str(BIG)}, {"a": BIG}, None),
        ({"mcp-param-a": str(BIG - 1)}, {"a": BIG}, "Mcp-Param-A does not match the argument"),
        ({"mcp-param-a": "9" * 400}, {"a": 1}, "Mcp-Param-A does not match the argument"),
        ({"mcp-param-a": "one"}, {"a": 1}, "Mcp-Param-A does not match the argument"),
        ({"mcp-param-a": "true"}, {"a": True}, None),
        ({"mcp-param-a": "1"}, {"a": True}, "Mcp-Param-A does not match the argument"),
        ({"mcp-param-a": "True"}, {"a": True}, "Mcp-Param-A does not match the argument"),
        ({"mcp-param-a": "X"}, {"a": "x"}, "Mcp-Param-A does not match the argument"),
        ({"mcp-param-a": "[]"}, {"a": []}, "Mcp-Param-A does not match the argument"),
        ({}, {"a": ""}, "the Mcp-Param-A header is missing"),
        ({}, {"b": {"c": False}}, "the Mcp-Param-Deep header is missing"),
        ({"mcp-param-a": "x"}, {}, "Mcp-Param-A was sent without its argument"),
        ({"mcp-param-deep": "x"}, {"b": "c"}, "Mcp-Param-Deep was sent without its argument"),
    ],
)
def test_an_argument_is_repeated_by_its_header(
    headers: dict[str, str], arguments: dict[str, Any], wrong: str | None
) -> None:
    refused = outcome(check_parameters, headers, WANTED, arguments)
    expected = None if wrong is None else (HEADER_MISMATCH, f"Header mismatch: {wrong}", None)
    assert refused == expected


@pytest.mark.parametrize(
    ("arguments", "headers"),
    [
        ({}, {}),
        ({"a": None, "z": 1}, {}),
        ({"a": "ü"}, {"Mcp-Param-A": "=?base64?w7w=?="}),
        ({"a": False, "b": {"c": 0}}, {"Mcp-Param-A": "false", "Mcp-Param-Deep": "0"}),
    ],
)
def test_the_headers_that_go_with_arguments(
    arguments: dict[str, Any], headers: dict[str, str]
) -> None:
    assert parameters(WANTED, arguments) == headers
    check_parameters({name.lower(): value for name, value in headers.items()}, WANTED, arguments)
