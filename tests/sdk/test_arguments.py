"""mcp_args_*, mcp_meta_*: what the client sent, checked."""

import json
from typing import Any

import pytest

from tests.sdk.sandbox import Sandbox


def test_the_raw_arguments_come_from_the_variable(sandbox: Sandbox) -> None:
    assert sandbox.run("mcp_args_raw", {"a": [1]}).out == '{"a": [1]}\n'


def test_large_arguments_come_from_the_file(sandbox: Sandbox) -> None:
    path = sandbox.folder / "arguments"
    path.write_text('{"a":"from the file"}')
    ran = sandbox.run(
        "mcp_args_raw; mcp_args_get .a", MCP_TOOL_ARGS_JSON="", MCP_TOOL_ARGS_FILE=str(path)
    )
    assert ran.out == '{"a":"from the file"}\nfrom the file\n'


def test_without_arguments_there_is_an_empty_object(sandbox: Sandbox) -> None:
    ran = sandbox.run("mcp_args_raw; mcp_args_get .a", MCP_TOOL_ARGS_JSON=None)
    assert ran.out == "{}\nnull\n"


def test_arguments_changed_after_sourcing_are_seen(sandbox: Sandbox) -> None:
    script = "mcp_args_get .a; MCP_TOOL_ARGS_JSON='{\"a\":2}'; mcp_args_get .a"
    assert sandbox.run(script, {"a": 1}).out == "1\n2\n"


def test_meta_is_read_like_arguments(sandbox: Sandbox) -> None:
    ran = sandbox.run(
        """mcp_meta_raw; mcp_meta_get .traceparent; mcp_meta_get '.x // "none"'""",
        MCP_TOOL_META_JSON='{"traceparent":"00-1"}',
    )
    assert ran.out == '{"traceparent":"00-1"}\n00-1\nnone\n'


@pytest.mark.parametrize(
    ("arguments", "printed"),
    [
        ({}, "World"),
        ({"name": None}, "World"),
        ({"name": "null"}, "null"),
        ({"name": ""}, ""),
        ({"name": False}, "false"),
        ({"name": "Ada"}, "Ada"),
        ({"name": [1]}, "[1]"),
    ],
)
def test_a_default_stands_for_what_is_missing(
    sandbox: Sandbox, arguments: Any, printed: str
) -> None:
    assert sandbox.run("mcp_args_get .name --default World", arguments).out == f"{printed}\n"


def test_an_empty_filter_result_prints_nothing(sandbox: Sandbox) -> None:
    ran = sandbox.run("x=$(mcp_args_get '.name // empty'); echo \"[$x]\"", {})
    assert ran.out == "[]\n"


def test_a_required_argument_is_printed(sandbox: Sandbox) -> None:
    assert sandbox.run("mcp_args_require .a", {"a": False}).out == "false\n"


@pytest.mark.parametrize("arguments", [{}, {"a": None}, {"a": ""}])
def test_a_missing_required_argument_ends_the_tool(sandbox: Sandbox, arguments: Any) -> None:
    ran = sandbox.run('a=$(mcp_args_require .a); echo "not reached"', arguments)
    assert (ran.out, ran.code) == ("", 1)
    assert json.loads(sandbox.error_file.read_text()) == {
        "code": -32602,
        "message": "Missing required argument: a",
    }


def test_a_missing_required_argument_may_be_told_in_own_words(sandbox: Sandbox) -> None:
    sandbox.run("mcp_args_require .a 'Say what a is'", {})
    assert json.loads(sandbox.error_file.read_text())["message"] == "Say what a is"


@pytest.mark.parametrize(
    ("value", "printed"),
    [
        (True, "true"),
        (False, "false"),
        ("true", "true"),
        ("no", "false"),
        (1, "true"),
        (0, "false"),
    ],
)
def test_booleans_are_read_in_the_forms_clients_send(
    sandbox: Sandbox, value: Any, printed: str
) -> None:
    ran = sandbox.run("mcp_args_bool .flag --default true", {"flag": value})
    assert ran.out == f"{printed}\n"


def test_a_missing_boolean_has_its_default(sandbox: Sandbox) -> None:
    script = "mcp_args_bool .flag --default true; mcp_args_bool .flag --default false"
    assert sandbox.run(script, {}).out == "true\nfalse\n"


def test_what_is_not_a_boolean_is_refused(sandbox: Sandbox) -> None:
    assert sandbox.run("mcp_args_bool .flag", {"flag": "perhaps"}).code == 1
    assert "flag must be true or false" in sandbox.error_file.read_text()


@pytest.mark.parametrize(("value", "printed"), [(7, "7"), (-3, "-3"), ("12", "12"), (5.0, "5")])
def test_integers_are_printed(sandbox: Sandbox, value: Any, printed: str) -> None:
    assert sandbox.run("mcp_args_int .n", {"n": value}).out == f"{printed}\n"


def test_a_missing_integer_has_its_default(sandbox: Sandbox) -> None:
    assert sandbox.run("mcp_args_int .n --default 10 --min 1 --max 20", {}).out == "10\n"


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (0, "n must be at least 1, not 0"),
        (21, "n must be at most 20, not 21"),
        (1.5, "n must be an integer, not: 1.5"),
        ("x", "n must be an integer, not: x"),
        (None, "Missing required argument: n"),
        (10**30, f"n must be an integer, not: {10**30}"),
    ],
)
def test_an_integer_out_of_bounds_is_refused(sandbox: Sandbox, value: Any, message: str) -> None:
    assert sandbox.run("mcp_args_int .n --min 1 --max 20", {"n": value}).code == 1
    assert json.loads(sandbox.error_file.read_text()) == {"code": -32602, "message": message}
