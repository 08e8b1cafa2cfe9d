"""mcp_progress, mcp_log*, mcp_debug, mcp_is_cancelled: what a tool says while it runs."""

import os
from pathlib import Path

import pytest

from tests.sdk.sandbox import Sandbox


def test_progress_without_a_total_is_in_per_cent(sandbox: Sandbox) -> None:
    sandbox.run("""mcp_progress 50 'half "way"'""")
    assert sandbox.notifications(sandbox.progress) == [
        {
            "jsonrpc": "2.0",
            "method": "notifications/progress",
            "params": {
                "progressToken": "token",
                "progress": 50,
                "total": 100,
                "message": 'half "way"',
            },
        }
    ]


def test_progress_that_is_no_percentage_has_no_total(sandbox: Sandbox) -> None:
    sandbox.run("mcp_progress 101 x; mcp_progress -1 x; mcp_progress 100.5 x; mcp_progress 99.5 x")
    totals = [line["params"].get("total") for line in sandbox.notifications(sandbox.progress)]
    assert totals == [None, None, None, 100]


def test_progress_may_have_a_total(sandbox: Sandbox) -> None:
    sandbox.run("mcp_progress 2 two 5")
    assert sandbox.notifications(sandbox.progress)[0]["params"]["total"] == 5


@pytest.mark.parametrize(
    ("plain", "as_json", "sent"),
    [
        ("abc", None, "abc"),
        ("7", None, 7),
        ("007", None, "007"),
        ("7", '"7"', "7"),
        ("7", "7", 7),
    ],
)
def test_the_progress_token_keeps_its_type(
    sandbox: Sandbox, plain: str, as_json: str | None, sent: object
) -> None:
    sandbox.run("mcp_progress 1 x", MCP_PROGRESS_TOKEN=plain, MCP_PROGRESS_TOKEN_JSON=as_json)
    assert sandbox.notifications(sandbox.progress)[0]["params"]["progressToken"] == sent


@pytest.mark.parametrize(
    ("said", "sent"), [("50%", 50), ("050", 50), (".5", 0.5), ("3.", 3), ("+1", 1), ("-0.5", -0.5)]
)
def test_progress_in_other_notations_is_a_number(sandbox: Sandbox, said: str, sent: float) -> None:
    sandbox.run(f"mcp_progress {said} x")
    assert sandbox.notifications(sandbox.progress)[0]["params"]["progress"] == sent


def test_progress_that_is_no_number_is_not_sent_and_does_not_fail(sandbox: Sandbox) -> None:
    ran = sandbox.run("mcp_progress soon x; echo on")
    assert (ran.out, sandbox.progress.read_text()) == ("on\n", "")


def test_without_a_token_nothing_is_sent(sandbox: Sandbox) -> None:
    """But for a line without words: the server sees that the tool gets on."""
    ran = sandbox.run("mcp_progress 1 x; echo on", MCP_PROGRESS_TOKEN="")
    assert (ran.out, sandbox.progress.read_text()) == ("on\n", "\n")


def test_a_stream_that_has_gone_does_not_fail_the_tool(sandbox: Sandbox) -> None:
    gone = str(sandbox.folder / "gone" / "stream")
    ran = sandbox.run(
        "mcp_progress 1 x; mcp_log_info x y; mcp_debug z; echo on",
        MCP_PROGRESS_STREAM=gone,
        MCP_LOG_STREAM=gone,
        MCPBASH_DEBUG_LOG=gone,
    )
    assert (ran.out, ran.err, ran.code) == ("on\n", "", 0)


def test_a_line_goes_into_a_pipe_in_one_write(sandbox: Sandbox, tmp_path: Path) -> None:
    """Packet mode is not for named pipes: two writers at once show whether lines stay whole."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        text = "x" * 3000
        script = f"""for i in 1 2 3 4 5; do mcp_progress $i {text}; done &
        for i in 1 2 3 4 5; do mcp_log_info l {text}; done; wait"""
        sandbox.run(script, MCP_PROGRESS_STREAM=str(pipe), MCP_LOG_STREAM=str(pipe))
        lines = os.read(reader, 1 << 20).splitlines()
    finally:
        os.close(reader)
    assert len(lines) == 10
    assert all(line.startswith(b'{"jsonrpc"') and line.endswith(b"}") for line in lines)


def test_a_log_message_carries_level_logger_and_data(sandbox: Sandbox) -> None:
    sandbox.run("""mcp_log warning my.logger '{"n": 1}'""")
    assert sandbox.notifications(sandbox.log) == [
        {
            "jsonrpc": "2.0",
            "method": "notifications/message",
            "params": {"level": "warning", "logger": "my.logger", "data": {"n": 1}},
        }
    ]


def test_log_data_that_is_not_json_is_a_string(sandbox: Sandbox) -> None:
    sandbox.run("mcp_log info l 'not {json'")
    assert sandbox.notifications(sandbox.log)[0]["params"]["data"] == "not {json"


def test_the_short_log_functions_send_a_message_as_it_is(sandbox: Sandbox) -> None:
    sandbox.run("mcp_log_debug l 1; mcp_log_info l two; mcp_log_warn l x; mcp_log_error only")
    sent = [message["params"] for message in sandbox.notifications(sandbox.log)]
    assert [(one["level"], one["logger"], one["data"]) for one in sent] == [
        ("debug", "l", "1"),
        ("info", "l", "two"),
        ("warning", "l", "x"),
        ("error", "probe", "only"),
    ]


def test_debug_notes_go_to_their_own_file_if_there_is_one(sandbox: Sandbox) -> None:
    path = sandbox.folder / "debug"
    sandbox.run("mcp_debug one two", MCPBASH_DEBUG_LOG=str(path))
    assert path.read_text() == "[probe +0s] one two\n"
    assert sandbox.run("mcp_debug nowhere").out == ""


def test_a_cancelled_call_is_known_by_its_file(sandbox: Sandbox) -> None:
    script = "mcp_is_cancelled && echo yes || echo no"
    assert sandbox.run(script).out == "no\n"
    sandbox.cancel.touch()
    assert sandbox.run(script).out == "yes\n"
    assert sandbox.run(script, MCP_CANCEL_FILE=None).out == "no\n"
