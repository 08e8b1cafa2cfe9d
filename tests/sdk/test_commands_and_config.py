"""mcp_with_retry, mcp_run_with_progress, mcp_extract_cli_error, mcp_config_*, the ui functions."""

import json
from typing import Any

import pytest

from tests.sdk.sandbox import JSON_TOOL, Sandbox

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
        ('{"error":{"message":null},"message":"outer"}', "", "outer"),
        ('{"error":null,"message":null}', "", "CLI exited with code 3"),
        ('{"success":true,"message":"all fine"}', "from stderr", "from stderr"),
        ('{"success":true,"message":"all fine"}', "", "CLI exited with code 3"),
        ('{"success":false,"message":"all wrong"}', "", "all wrong"),
        ('{"success":true,"error":"still"}', "", "still"),
        ('{"error":{"code":5}}', "", "CLI exited with code 3"),
        ("", "", "CLI exited with code 3"),
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
    assert progress(sandbox) == [(40, 100, "at 40%")]


@pytest.mark.parametrize(
    ("options", "line", "percent"),
    [
        ("--pattern '([0-9]+)/([0-9]+)' --extract ratio", "1/4 files", 25),
        ("--pattern '([0-9]+)/([0-9]+)' --extract ratio", "9/8 files", 100),
        ("--pattern '([0-9]+)/([0-9]+)' --extract ratio", "08/010 files", 80),
        ("--pattern 'step ([0-9]+)' --total 8", "step 2", 25),
        ("--pattern 'at ([0-9.]+)' --total 12.5", "at 6.25", 50),
        ("--pattern '([0-9.]+)%'", "33.3% done", 33),
    ],
)
def test_counters_are_sent_as_percentages(
    sandbox: Sandbox, options: str, line: str, percent: int
) -> None:
    sandbox.run(
        f"""mcp_run_with_progress {options} --stdout out \
        -- bash -c 'echo kept; echo "{line}" >&2'"""
    )
    assert progress(sandbox) == [(percent, 100, line)]
    assert (sandbox.project / "out").read_text() == "kept\n"


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ("--pattern '([0-9]+)/([0-9]+)' --extract ratio", "3/0 files"),
        ("--pattern 'working' --extract json", "working still"),
        ("--pattern 'phase (.+)'", "phase one"),
    ],
)
def test_a_line_that_matches_and_tells_no_progress_is_a_sign_of_life(
    sandbox: Sandbox, options: str, line: str
) -> None:
    ran = sandbox.run(f"mcp_run_with_progress {options} -- bash -c 'echo \"{line}\" >&2'")
    assert (ran.err, sandbox.progress.read_text()) == (f"{line}\n", "\n")


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
    assert progress(sandbox) == [(1, 100, "a"), (2, 100, "b")]


def test_a_dry_run_runs_the_command_and_prints_its_progress(sandbox: Sandbox) -> None:
    ran = sandbox.run(
        """work() { echo ran; echo 'half: 50%' >&2; echo noise >&2; return 3; }
        mcp_run_with_progress --dry-run --pattern '([0-9]+)%' -- work || echo "status $?"
        mcp_run_with_progress --dry-run -- bash -c 'echo "{\\"progress\\":1,\\"total\\":4}" >&2'"""
    )
    assert ran.out == "ran\nstatus 3\n"
    assert ran.err == (
        '{"progress":50,"message":"half: 50%"}\nnoise\n{"progress":1,"total":4,"message":""}\n'
    )
    assert sandbox.progress.read_text() == ""


@pytest.mark.parametrize("option", ["--stderr-file", "--stderr"])
def test_what_tells_no_progress_may_go_to_a_file(sandbox: Sandbox, option: str) -> None:
    (sandbox.project / "errors").write_text("of an earlier run\n")
    ran = sandbox.run(
        f"""mcp_run_with_progress --pattern '([0-9]+)%' {option} errors \
        -- bash -c 'echo 5% >&2; echo trouble >&2'"""
    )
    assert (ran.err, (sandbox.project / "errors").read_text()) == ("", "trouble\n")
    assert progress(sandbox) == [(5, 100, "5%")]


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ("--extract xml", "--extract is json, match1 or ratio, not xml"),
        ("--extract ratio", "--extract ratio needs a --pattern"),
        ("--total many", "--total is not a number above 0: many"),
        ("--total 0", "--total is not a number above 0: 0"),
        ("--interval -1", "--interval is not a number above 0: -1"),
        ("--interval 0", "--interval is not a number above 0: 0"),
        ("--colour red", "unknown option: --colour"),
    ],
)
def test_an_option_that_makes_no_sense_runs_nothing(
    sandbox: Sandbox, options: str, why: str
) -> None:
    ran = sandbox.run(f"mcp_run_with_progress {options} -- touch ran")
    assert (ran.err, ran.code) == (f"mcp_run_with_progress: {why}\n", 2)
    assert not (sandbox.project / "ran").exists()


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


def test_all_sources_are_merged_the_nearer_ones_over_the_others(sandbox: Sandbox) -> None:
    (sandbox.project / "example.json").write_text('{"b": "example", "c": "example", "d": {"x": 1}}')
    (sandbox.project / "c.json").write_text('{"c": "file", "d": {"y": 2}}')
    ran = sandbox.run(
        """mcp_config_load --env SETTINGS --file c.json --example example.json \
        --defaults '{"a":"default","b":"default","q\\"":1}'; echo "$MCP_CONFIG_JSON" """,
        SETTINGS='{"e": "variable"}',
    )
    assert ran.json == {
        "a": "default",
        "b": "example",
        "c": "file",
        "d": {"y": 2},
        "e": "variable",
        'q"': 1,
    }


@pytest.mark.parametrize("content", ["[1]", "{no", "", "5"])
def test_a_source_that_is_no_object_is_passed_over_with_a_warning(
    sandbox: Sandbox, content: str
) -> None:
    (sandbox.project / "c.json").write_text(content)
    ran = sandbox.run(
        f"mcp_config_load --file c.json --example none.json {DEFAULTS}; mcp_config_get ."
    )
    assert ran.json == {"host": "default", "port": 1}
    assert [message["params"] for message in sandbox.notifications(sandbox.log)] == [
        {
            "level": "warning",
            "logger": "mcp_config_load",
            "data": "c.json: not a JSON object, passed over",
        }
    ]


@pytest.mark.parametrize("options", ["", "--file none.json", "--env NOT_SET", "--defaults '[1]'"])
def test_without_any_source_there_is_no_config(sandbox: Sandbox, options: str) -> None:
    ran = sandbox.run(f'mcp_config_load {options} || echo "status $?"; mcp_config_get .')
    assert ran.out == "status 1\n{}\n"


@pytest.mark.parametrize("tool", [None, str(JSON_TOOL)])
def test_config_too_large_for_the_shell_is_merged_too(sandbox: Sandbox, tool: str | None) -> None:
    large = {f"key{n}": [n, str(n)] for n in range(4000)}
    (sandbox.project / "c.json").write_text(json.dumps(large))
    ran = sandbox.run(
        'mcp_config_load --file c.json --defaults \'{"key1":0,"own":1}\'; mcp_config_get .',
        MCPBASH_JSON_TOOL_BIN=tool,
    )
    assert ran.json == {"own": 1, **large}


def test_missing_config_is_a_default_or_a_status(sandbox: Sandbox) -> None:
    ran = sandbox.run(
        """mcp_config_load --defaults '{}'
        mcp_config_get .a --default d; mcp_config_get .a || echo none"""
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
    shows = {"MCP_CLIENT_CAPABILITIES_JSON": UI}
    for order in ("ui://s/board Here '{\"n\":1}'", "ui://s/board '{\"n\":1}' Here"):
        assert sandbox.run(f"mcp_result_with_ui_data {order}", **shows).json == expected
    del expected["structuredContent"]
    assert sandbox.run("mcp_result_with_ui ui://s/board Here", **shows).json == expected


def test_a_client_that_shows_no_interface_gets_the_rest_of_the_result(sandbox: Sandbox) -> None:
    assert sandbox.run("mcp_result_with_ui ui://s/board Here '{\"n\":1}'").json == {
        "content": [{"type": "text", "text": "Here"}],
        "structuredContent": {"n": 1},
        "isError": False,
    }


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
