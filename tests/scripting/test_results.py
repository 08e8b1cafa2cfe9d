"""What a run means as a CallToolResult."""

from __future__ import annotations

from typing import Any

import pytest

from toolyard.errors import ProtocolError
from toolyard.protocol.call import JsonObject
from toolyard.scripts.results import Shaping, result_of
from toolyard.scripts.running.deadline import TimeLimit
from toolyard.scripts.running.run import Finished

SHAPING = Shaping("tool", 100)


def result(stdout: bytes = b"", limit: TimeLimit | None = None, **changes: Any) -> JsonObject:
    finished = Finished(0, stdout, b"")._replace(**changes)
    return result_of(finished, limit or TimeLimit(5.0), SHAPING)


def test_plain_output_is_text() -> None:
    assert result(b"hello\n") == {
        "name": "tool",
        "content": [{"type": "text", "text": "hello"}],
        "isError": False,
        "_meta": {"exitCode": 0},
    }


@pytest.mark.parametrize(
    ("stdout", "value"),
    [(b'{"a":1}\n', {"a": 1}), (b"[1,2]", [1, 2]), (b"42", 42), (b'"s"', "s"), (b"false", False)],
)
def test_json_output_is_structured_as_well(stdout: bytes, value: object) -> None:
    shown = result(stdout)
    assert shown["structuredContent"] == value
    assert shown["content"] == [{"type": "text", "text": stdout.decode().strip()}]


@pytest.mark.parametrize("stdout", [b"", b"null", b"{'a'}", b'{"a":1}\n{"b":2}', b"\xff\xfe"])
def test_other_output_is_not_structured(stdout: bytes) -> None:
    assert "structuredContent" not in result(stdout)


def test_stderr_is_told_beside_the_result() -> None:
    assert result(b"x", stderr=b"warning\n")["_meta"] == {"exitCode": 0, "stderr": "warning"}


@pytest.mark.parametrize(
    ("stdout", "stderr", "text"),
    [
        (b"out\n", b"err\n", "out"),
        (b"", b"err\n", "err"),
        (b"", b"", "Tool failed with exit code 3"),
        (b'{"code":-32000,"message":"m"}', b"", '{"code":-32000,"message":"m"}'),
    ],
)
def test_a_failing_exit_is_an_error_result(stdout: bytes, stderr: bytes, text: str) -> None:
    shown = result(stdout, exit_code=3, stderr=stderr)
    assert shown["isError"] is True
    assert shown["content"] == [{"type": "text", "text": text}]
    assert shown["_meta"]["exitCode"] == 3
    assert "structuredContent" not in shown


def test_a_printed_result_passes_through() -> None:
    shown = result(
        b'{"content":[{"type":"future","x":1}],"isError":false,"vendor":2,"_meta":{"a":1}}',
        stderr=b"note",
    )
    assert shown == {
        "name": "tool",
        "content": [{"type": "future", "x": 1}],
        "isError": False,
        "vendor": 2,
        "_meta": {"a": 1, "exitCode": 0, "stderr": "note"},
    }


@pytest.mark.parametrize(
    "stdout",
    [
        b'{"content":["a","b"]}',
        b'{"content":"text"}',
        b'{"content":[]}',
        b'{"isError":true}',
        b'{"resultType":"input_required"}',
    ],
)
def test_what_only_resembles_a_result_is_data(stdout: bytes) -> None:
    assert "structuredContent" in result(stdout)


def test_a_printed_result_of_a_failing_script_is_an_error() -> None:
    shown = result(b'{"content":[{"type":"text","text":"t"}],"isError":false}', exit_code=1)
    assert shown["isError"] is True


def test_input_required_passes_through_with_its_questions() -> None:
    shown = result(b'{"resultType":"input_required","inputRequests":{"q":{}},"requestState":"s"}')
    assert shown == {
        "resultType": "input_required",
        "inputRequests": {"q": {}},
        "requestState": "s",
        "_meta": {"exitCode": 0},
    }


def test_the_older_spelling_of_a_ui_resource_is_given_in_the_newer_too() -> None:
    shown = result(b'{"content":[],"isError":false,"_meta":{"ui/resourceUri":"ui://a"}}')
    assert shown["_meta"]["ui"] == {"resourceUri": "ui://a"}


def test_the_scripts_own_error_comes_first() -> None:
    with pytest.raises(ProtocolError) as raised:
        result(b"x", said_error=b'{"code":-32602,"message":"m","data":{"a":1}}', exit_code=1)
    assert (raised.value.code, raised.value.message, raised.value.data) == (-32602, "m", {"a": 1})


@pytest.mark.parametrize("said", [b"text\n", b'{"code":"1","message":"m"}', b"[]"])
def test_an_error_without_code_and_message_is_internal(said: bytes) -> None:
    with pytest.raises(ProtocolError) as raised:
        result(said_error=said)
    assert (raised.value.code, raised.value.message) == (-32603, "Tool failed")
    assert raised.value.data == said.decode().strip()


def test_an_empty_error_file_is_none() -> None:
    assert result(b"x", said_error=b" \n")["isError"] is False


def test_too_much_output_is_an_error_result() -> None:
    shown = result(b"x" * 200, overflowed=True, exit_code=143)
    assert shown["isError"] is True
    assert shown["content"][0]["text"] == "Tool output exceeded 100 bytes"


@pytest.mark.parametrize(
    ("reason", "limit", "message", "extra"),
    [
        ("fixed", TimeLimit(5.0), "Tool timed out after 5s", {}),
        (
            "idle",
            TimeLimit(0.5, extends=True, maximum=9.0),
            "Tool timed out after 0.5s (no progress reported)",
            {"progressExtendsTimeout": True, "maxTimeoutSecs": 9},
        ),
        (
            "max_exceeded",
            TimeLimit(5.0, extends=True, maximum=9.0),
            "Tool exceeded maximum runtime of 9s",
            {"progressExtendsTimeout": True, "maxTimeoutSecs": 9},
        ),
    ],
)
def test_a_timeout_says_what_ran_out(
    reason: Any, limit: TimeLimit, message: str, extra: JsonObject
) -> None:
    shaping = SHAPING._replace(timeout_hint="try less")
    shown = result_of(Finished(143, b"partial", b"err", reason), limit, shaping)
    assert shown == {
        "name": "tool",
        "content": [{"type": "text", "text": f"{message}\n\nSuggestion: try less"}],
        "isError": True,
        "structuredContent": {
            "success": False,
            "error": {
                "type": "timeout",
                "message": message,
                "timeoutSecs": limit.seconds,
                "reason": reason,
                "exitCode": 124,
                **extra,
                "hint": "try less",
            },
        },
        "_meta": {"exitCode": 124, "stderr": "err"},
    }
