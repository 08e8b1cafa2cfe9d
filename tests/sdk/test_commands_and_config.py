"""mcp_with_retry, mcp_run_with_progress, mcp_extract_cli_error, mcp_config_*, the ui functions."""

import json
from typing import Any

import pytest

from tests.sdk.sandbox import Sandbox

COUNTING = """attempt() {
    echo try >>tries
    [ "$(wc -l <tries)" -ge "$1" ] || return "$2"
    echo done
}
"""


def test_a_command_is_tried_again_until_it_succeeds(sandbox: Sandbox) -> None:
    ran = sandbox.run(COUNTING + "mcp_with_retry 5 0.01 -- attempt 3 7")
    assert (ran.out, ran.code) == ("done\n", 0)


def test_the_last_status_is_kept_when_attempts_run_out(sandbox: Sandbox) -> None:
    ran = sandbox.run(COUNTING + "mcp_with_retry 2 0.01 -- attempt 9 7")
    assert (ran.code, (sandbox.project / "tries").read_text()) == (7, "try\ntry\n")


@pytest.mark.parametrize("status", [1, 2])
def test_a_permanent_failure_is_not_tried_again(sandbox: Sandbox, status: int) -> None:
    ran = sandbox.run(COUNTING + f"mcp_with_retry 3 5 -- attempt 9 {status}")
    assert (ran.code, (sandbox.project / "tries").read_text()) == (status, "try\n")


@pytest.mark.parametrize(
    ("out", "err", "message"),
    [
        ('{"error":{"message":"deep"}}', "noise", "deep"),
        ('{"errors":[{"message":"first"}]}', "", "first"),
        ('{"error":"flat"}', "", "flat"),
        ('{"message":"plain"}', "", "plain"),
        ('{"fine":1}', "from stderr", "from stderr"),
        ("not json", "", "not json"),
        ("", "", "Command failed with exit code 3"),
    ],
)
def test_the_message_of_a_failed_command_is_found(
    sandbox: Sandbox, out: str, err: str, message: str
) -> None:
    ran = sandbox.run('mcp_extract_cli_error "$OUT" "$ERR" 3', OUT=out, ERR=err)
    assert ran.out == f"{message}\n"


def progress(sandbox: Sandbox) -> list[tuple[Any, Any, Any]]:
    sent = [message["params"] for message in sandbox.notifications(sandbox.progress)]
    return [(one["progress"], one.get("total"), one["message"]) for one in sent]


def test_progress_lines_of_a_command_are_passed_on(sandbox: Sandbox) -> None:
    ran = sandbox.run(
        """work() { echo '{"progress":1,"total":4,"message":"one"}' >&2; echo out; echo noise >&2
        echo '{"progress":2}' >&2; return 3; }
        status=0; mcp_run_with_progress --total 9 -- work || status=$?; echo "status $status" """
    )
    assert (ran.out, ran.err) == ("out\nstatus 3\n", "noise\n")
    assert progress(sandbox) == [(1, 4, "one"), (2, 9, "")]


def test_a_pattern_finds_the_percentage(sandbox: Sandbox) -> None:
    ran = sandbox.run(
        """work() { echo 'at 40%' >&2; echo x >&2; }
        mcp_run_with_progress --quiet --pattern '([0-9]+)%' -- work"""
    )
    assert (ran.out, ran.err, ran.code) == ("", "", 0)
    assert progress(sandbox) == [(40, None, "at 40%")]


def test_a_ratio_has_a_total(sandbox: Sandbox) -> None:
    sandbox.run(
        """mcp_run_with_progress --pattern '([0-9]+)/([0-9]+)' --extract ratio --stdout out \
        -- bash -c 'echo kept; echo "3/8 files" >&2'"""
    )
    assert progress(sandbox) == [(3, 8, "3/8 files")]
    assert (sandbox.project / "out").read_text() == "kept\n"


def test_progress_can_come_from_a_file(sandbox: Sandbox) -> None:
    ran = sandbox.run(
        """work() {
            echo '{"progress":1,"message":"a"}' >>p
            echo '{"progress":2,"message":"b"}' >>p
            return 4
        }
        mcp_run_with_progress --progress-file p --interval 0.05 -- work || echo "status $?" """
    )
    assert (ran.out, ran.err) == ("status 4\n", "")
    assert progress(sandbox) == [(1, None, "a"), (2, None, "b")]


def test_a_dry_run_only_says_what_it_would_do(sandbox: Sandbox) -> None:
    ran = sandbox.run("mcp_run_with_progress --dry-run -- rm everything")
    assert (ran.err, ran.code) == ("rm everything\n", 0)


DEFAULTS = """--defaults '{"host":"default","port":1}'"""


def test_config_comes_from_the_file_over_defaults(sandbox: Sandbox) -> None:
    (sandbox.project / "c.json").write_text('{"host": "file", "deep": {"a": [1]}}')
    ran = sandbox.run(
        f"""mcp_config_load --env SETTINGS --file c.json {DEFAULTS}
        mcp_config_get .host; mcp_config_get .port; mcp_config_get '.deep.a[0]'
        echo "$MCP_CONFIG_JSON" """
    )
    *values, document = ran.out.splitlines()
    assert values == ["file", "1", "1"]
    assert json.loads(document) == {"host": "file", "port": 1, "deep": {"a": [1]}}


@pytest.mark.parametrize("value", ['{"host":"variable"}', "other.json"])
def test_config_in_a_variable_is_json_or_a_path(sandbox: Sandbox, value: str) -> None:
    (sandbox.project / "c.json").write_text('{"host":"file"}')
    (sandbox.project / "other.json").write_text('{"host":"variable"}')
    ran = sandbox.run(
        f"mcp_config_load --env SETTINGS --file c.json {DEFAULTS}; mcp_config_get .host",
        SETTINGS=value,
    )
    assert ran.out == "variable\n"


def test_config_falls_back_to_the_example_then_to_the_defaults(sandbox: Sandbox) -> None:
    script = f"mcp_config_load --file none --example e.json {DEFAULTS}; mcp_config_get .host"
    assert sandbox.run(script).out == "default\n"
    (sandbox.project / "e.json").write_text('{"host":"example"}')
    assert sandbox.run(script).out == "example\n"


def test_config_that_is_not_an_object_is_refused_by_name(sandbox: Sandbox) -> None:
    (sandbox.project / "c.json").write_text("[1]")
    ran = sandbox.run("mcp_config_load --file c.json")
    assert (ran.code, "c.json: not a JSON object" in ran.err) == (1, True)


def test_missing_config_is_a_default_or_a_status(sandbox: Sandbox) -> None:
    ran = sandbox.run(
        "mcp_config_load; mcp_config_get .a --default d; mcp_config_get .a || echo none"
    )
    assert ran.out == "d\nnone\n"


UI = '{"extensions":{"io.modelcontextprotocol/ui":{}}}'


@pytest.mark.parametrize(("capabilities", "code"), [(UI, 0), ("{}", 1), ("", 1)])
def test_a_client_that_shows_interfaces_is_known(
    sandbox: Sandbox, capabilities: str, code: int
) -> None:
    ran = sandbox.run("mcp_client_supports_ui", MCP_CLIENT_CAPABILITIES_JSON=capabilities)
    assert ran.code == code


def test_a_result_names_its_interface(sandbox: Sandbox) -> None:
    expected = {
        "content": [{"type": "text", "text": "Here"}],
        "structuredContent": {"n": 1},
        "_meta": {"ui": {"resourceUri": "ui://s/board"}},
        "isError": False,
    }
    for order in ("ui://s/board Here '{\"n\":1}'", "ui://s/board '{\"n\":1}' Here"):
        assert sandbox.run(f"mcp_result_with_ui_data {order}").json == expected
    del expected["structuredContent"]
    assert sandbox.run("mcp_result_with_ui ui://s/board Here").json == expected


def test_the_ui_sdk_can_be_sourced_alone(sandbox: Sandbox) -> None:
    ran = sandbox.run_bare('set -eu; . "$MCP_SDK/ui-sdk.sh"; mcp_tool_meta_with_ui ui://s/x')
    assert ran.json == {"ui": {"resourceUri": "ui://s/x", "visibility": ["model", "app"]}}


def test_forms_and_tables_are_template_configurations(sandbox: Sandbox) -> None:
    assert sandbox.run("""mcp_ui_form Title '[{"name":"a"}]' submit""").json == {
        "template": "form",
        "config": {"title": "Title", "fields": [{"name": "a"}], "submitTool": "submit"},
    }
    assert sandbox.run("""mcp_ui_table Title '[{"key":"a"}]' '[{"a":1}]'""").json == {
        "template": "data-table",
        "config": {"title": "Title", "columns": [{"key": "a"}], "rows": [{"a": 1}]},
    }
