"""mcp_emit_*, mcp_result_*, mcp_error, mcp_fail*: what a tool returns."""

import base64
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


def test_a_success_that_is_not_json_is_a_string(sandbox: Sandbox) -> None:
    ran = sandbox.run("mcp_result_success 'all done'")
    assert ran.json["structuredContent"] == {"success": True, "result": "all done"}


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


def test_an_error_result_is_marked_as_one(sandbox: Sandbox) -> None:
    result = sandbox.run("""mcp_result_error '{"type":"not_found","message":"No x"}'""").json
    envelope = {"success": False, "error": {"type": "not_found", "message": "No x"}}
    assert (result["structuredContent"], result["isError"]) == (envelope, True)
    assert json.loads(result["content"][0]["text"]) == envelope


def test_an_error_in_words_gets_a_type(sandbox: Sandbox) -> None:
    error = sandbox.run("mcp_result_error 'it broke'").json["structuredContent"]["error"]
    assert error == {"type": "internal_error", "message": "it broke"}


def test_an_error_may_have_a_hint_and_data(sandbox: Sandbox) -> None:
    ran = sandbox.run(
        """mcp_error not_found 'No "x"' --hint 'Try y' --data '{"a":[1]}'; echo on >&2"""
    )
    assert ran.json["structuredContent"]["error"] == {
        "type": "not_found",
        "message": 'No "x"',
        "hint": "Try y",
        "data": {"a": [1]},
    }
    assert (ran.err, ran.code) == ("on\n", 0)


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


def test_a_result_may_carry_text_and_binary_files(sandbox: Sandbox) -> None:
    (sandbox.project / "a b.md").write_text('# "Title"\n')
    (sandbox.project / "dot.png").write_bytes(b"\x89PNG\x00\xff")
    result = sandbox.run(
        """mcp_result_text_with_resource '{"n":1}' --path 'a b.md' --path dot.png --mime image/x \
        --uri test://dot"""
    ).json
    assert result["content"][1:] == [
        {
            "type": "resource",
            "resource": {
                "uri": f"file://{sandbox.project}/a%20b.md",
                "mimeType": "text/markdown",
                "text": '# "Title"\n',
            },
        },
        {
            "type": "resource",
            "resource": {
                "uri": "test://dot",
                "mimeType": "image/x",
                "blob": base64.b64encode(b"\x89PNG\x00\xff").decode(),
            },
        },
    ]
    assert result["structuredContent"] == {"success": True, "result": {"n": 1}}


def test_a_file_that_cannot_be_read_is_an_error_result(sandbox: Sandbox) -> None:
    ran = sandbox.run("mcp_result_text_with_resource hello --path missing.txt")
    assert (ran.json["isError"], ran.code) == (True, 1)
