"""mcp_emit_*, mcp_result_*, mcp_error, mcp_fail*: what a tool returns."""

import json
from typing import Any

import pytest

from tests.sdk.sandbox import Sandbox


def test_text_and_json_are_printed(sandbox: Sandbox) -> None:
    ran = sandbox.run("""mcp_emit_text 'a "b"'; echo; mcp_emit_json ' { "a" : 1 } '""")
    assert ran.out == 'a "b"\n{"a":1}'


def test_emitting_what_is_not_json_fails(sandbox: Sandbox) -> None:
    ran = sandbox.run("mcp_emit_json '{a'")
    assert (ran.out, ran.code) == ("", 1)


@pytest.mark.parametrize(
    "data", [{"message": 'Hello, "x"! \\ é\n'}, [1, {"a": None}], "text", 5, None]
)
def test_a_success_is_structured_content_and_the_same_as_text(sandbox: Sandbox, data: Any) -> None:
    result = sandbox.run('mcp_result_success "$DATA"', DATA=json.dumps(data, indent=1)).json
    envelope = {"success": True, "result": data}
    text = result["content"][0].pop("text")
    assert result == {
        "content": [{"type": "text"}],
        "structuredContent": envelope,
        "isError": False,
    }
    assert json.loads(text) == envelope
    assert "\n" not in text


@pytest.mark.parametrize(
    ("data", "why"),
    [
        ("all done", "not a single JSON value"),
        ("{a", "not a single JSON value"),
        ("1 2", "not a single JSON value"),
        ("{}\n{}", "not a single JSON value"),
        ("", "empty"),
    ],
)
def test_a_success_that_is_not_one_json_value_is_an_error_result(
    sandbox: Sandbox, data: str, why: str
) -> None:
    ran = sandbox.run('mcp_result_success "$DATA"', DATA=data)
    message = f"mcp_result_success: the data is {why}"
    error = {"type": "invalid_json", "message": message, "raw": data}
    assert (ran.json, ran.code) == (error_result(message, error), 0)


def error_result(text: str, error: Any) -> Any:
    return {
        "content": [{"type": "text", "text": text}],
        "structuredContent": {"success": False, "error": error},
        "isError": True,
    }


def test_several_values_too_long_for_the_shell_are_an_error_too(sandbox: Sandbox) -> None:
    path = sandbox.folder / "large.json"
    path.write_text("[" + "1," * 20000 + "1]\n[2]")
    ran = sandbox.run(f'mcp_result_success "$(<{path})"')
    assert ran.json["structuredContent"]["error"]["type"] == "invalid_json"


@pytest.mark.parametrize(
    ("data", "said"),
    [([1, 2, 3], "an array of 3 items"), ({"a": "xx", "b": 1}, "an object of 2 fields")],
)
def test_a_long_result_is_summed_up_in_the_text_only(
    sandbox: Sandbox, data: Any, said: str
) -> None:
    result = sandbox.run(f"mcp_result_success '{json.dumps(data)}' 20").json
    assert said in result["content"][0]["text"]
    assert result["structuredContent"] == {"success": True, "result": data}


def test_the_limit_of_the_text_is_a_setting_too(sandbox: Sandbox) -> None:
    ran = sandbox.run("mcp_result_success '[1]'", MCPBASH_MAX_TEXT_BYTES="5")
    assert "an array of 1 items" in ran.json["content"][0]["text"]


def test_a_result_too_large_for_the_shell_is_whole_too(sandbox: Sandbox) -> None:
    path = sandbox.folder / "large.json"
    data = [{"n": str(n)} for n in range(4000)]
    path.write_text(json.dumps(data, indent=1))
    assert sandbox.run(f'mcp_result_success "$(<{path})"').json["structuredContent"] == {
        "success": True,
        "result": data,
    }


def test_an_error_result_says_its_message_and_holds_the_rest(sandbox: Sandbox) -> None:
    ran = sandbox.run("""mcp_result_error '{"type":"not_found","message":"No x"}'""")
    error = {"type": "not_found", "message": "No x"}
    assert (ran.json, ran.code) == (error_result("No x", error), 0)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("it broke", "it broke"),
        ("", "Unknown error"),
        ("[1]", "The error is not a JSON object"),
        ('"text"', "The error is not a JSON object"),
    ],
)
def test_an_error_that_is_no_object_is_kept_as_it_was(
    sandbox: Sandbox, given: str, message: str
) -> None:
    ran = sandbox.run('mcp_result_error "$GIVEN"', GIVEN=given)
    error = {"type": "internal_error", "message": message, "raw": given}
    assert (ran.json, ran.code) == (error_result(message, error), 0)


def test_an_error_without_a_message_says_all_of_itself(sandbox: Sandbox) -> None:
    ran = sandbox.run("""mcp_result_error '{"type":"quota"}'""")
    assert ran.json == error_result('{"type":"quota"}', {"type": "quota"})


def test_an_error_may_have_a_hint_and_data(sandbox: Sandbox) -> None:
    ran = sandbox.run(
        """mcp_error not_found 'No "x"' --hint 'Try y' --data '{"a":[1]}'; echo on >&2"""
    )
    error = {"type": "not_found", "message": 'No "x"', "hint": "Try y", "data": {"a": [1]}}
    assert ran.json == error_result('No "x"', error)
    assert (ran.err, ran.code) == ("on\n", 0)


def test_data_of_an_error_that_is_no_json_is_marked(sandbox: Sandbox) -> None:
    error = sandbox.run("mcp_error t m --data '{no'").json["structuredContent"]["error"]
    assert error == {"type": "t", "message": "m", "data": {"_invalid_json": "{no"}}


def test_errors_are_logged_and_those_with_a_hint_louder(sandbox: Sandbox) -> None:
    sandbox.run('mcp_error a b; mcp_error a b --hint c; mcp_result_error \'{"message":"d"}\'')
    sent = [message["params"] for message in sandbox.notifications(sandbox.log)]
    assert sent == [
        {"level": "debug", "logger": "mcp_error", "data": {"type": "a", "message": "b"}},
        {
            "level": "warning",
            "logger": "mcp_error",
            "data": {"type": "a", "message": "b", "hint": "c"},
        },
        {"level": "debug", "logger": "mcp_error", "data": {"message": "d"}},
    ]


def test_failing_writes_the_error_file_and_stdout_and_exits(sandbox: Sandbox) -> None:
    ran = sandbox.run("""mcp_fail -32001 'Not "now"' '{"retry":5}'; echo "not reached" """)
    error = {"code": -32001, "message": 'Not "now"', "data": {"retry": 5}}
    assert (ran.json, ran.code) == (error, 1)
    assert json.loads(sandbox.error_file.read_text()) == error


def test_failing_for_bad_arguments_has_their_code(sandbox: Sandbox) -> None:
    assert sandbox.run("mcp_fail_invalid_args 'n is odd'").json == {
        "code": -32602,
        "message": "n is odd",
    }


def test_failing_by_hand_says_why_on_stderr(sandbox: Sandbox) -> None:
    ran = sandbox.run("x=$(mcp_fail -32603 Oops)", MCP_TOOL_ERROR_FILE=None)
    assert (ran.err, ran.code) == ("Oops\n", 1)


def test_files_are_named_to_the_server_and_the_last_list_counts(sandbox: Sandbox) -> None:
    named = sandbox.folder / "resources"
    named.touch()
    ran = sandbox.run(
        """mcp_result_text_with_resource before --path first >/dev/null
        mcp_result_text_with_resource '{"n":1}' --path 'a "b".md' --path /x/dot.png --mime image/x \
        --uri test://dot""",
        MCP_TOOL_RESOURCES_FILE=str(named),
    )
    assert json.loads(named.read_text()) == [
        {"path": f'{sandbox.project}/a "b".md'},
        {"path": "/x/dot.png", "mimeType": "image/x", "uri": "test://dot"},
    ]
    envelope = {"success": True, "result": {"n": 1}}
    assert ran.json == {
        "content": [{"type": "text", "text": '{"success":true,"result":{"n":1}}'}],
        "structuredContent": envelope,
        "isError": False,
    }


def test_a_text_with_files_stays_a_text(sandbox: Sandbox) -> None:
    ran = sandbox.run("mcp_result_text_with_resource hello --path missing.txt")
    assert (ran.json, ran.code) == (
        {"content": [{"type": "text", "text": "hello"}], "isError": False},
        0,
    )


def test_unknown_flags_are_passed_over_with_a_log_line(sandbox: Sandbox) -> None:
    named = sandbox.folder / "resources"
    sandbox.run(
        "mcp_result_text_with_resource x --colour red --path a --bold --mime text/x stray --uri",
        MCP_TOOL_RESOURCES_FILE=str(named),
    )
    assert json.loads(named.read_text()) == [{"path": f"{sandbox.project}/a", "mimeType": "text/x"}]
    sent = [message["params"] for message in sandbox.notifications(sandbox.log)]
    assert [(one["level"], one["data"]) for one in sent] == [
        ("warning", "ignored: --colour"),
        ("warning", "ignored: --bold"),
        ("warning", "ignored: stray"),
    ]


def test_files_without_data_are_an_error_result(sandbox: Sandbox) -> None:
    ran = sandbox.run("mcp_result_text_with_resource '' --path x")
    message = "mcp_result_text_with_resource: the data is empty"
    error = {"type": "invalid_json", "message": message, "raw": ""}
    assert (ran.json, ran.code) == (error_result(message, error), 0)
