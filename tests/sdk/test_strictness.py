"""What sourcing the SDK does to a script: errexit, nounset, pipefail, and no payload in a trace."""

import json

import pytest

from tests.sdk.sandbox import Sandbox

FILES = ("tool-sdk.sh", "ui-sdk.sh")


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize(
    "mistake", ["false", 'echo "$nobody_set_this"', "false | cat", "x=$(false)"]
)
def test_a_mistake_ends_a_script_that_sourced_the_sdk(
    sandbox: Sandbox, file: str, mistake: str
) -> None:
    ran = sandbox.run_bare(f'. "$MCP_SDK/{file}"; {mistake} 2>/dev/null; echo "went on"')
    assert (ran.out, ran.code) == ("", 1)


@pytest.mark.parametrize(
    "reading",
    ["mcp_args_require .path", "mcp_require_path .path", "mcp_args_int .n", "mcp_args_bool .b"],
)
def test_a_missing_argument_ends_the_script_in_the_documented_idiom(
    sandbox: Sandbox, reading: str
) -> None:
    script = f'. "$MCP_SDK/tool-sdk.sh"\nvalue="$({reading})"\necho "$value" >written'
    ran = sandbox.run_bare(script)
    assert (ran.out, ran.code) == ("", 1)
    assert not (sandbox.project / "written").exists()
    assert json.loads(sandbox.error_file.read_text())["code"] == -32602


def test_a_script_that_turns_it_off_keeps_it_off(sandbox: Sandbox) -> None:
    """Also when a part of the SDK is loaded by its first use."""
    ran = sandbox.run_bare(
        """. "$MCP_SDK/tool-sdk.sh"; set +euo pipefail; options=$-$(shopt -o)
        mcp_client_supports_ui; mcp_progress 1 x; mcp_error t m >/dev/null; mcp_config_load
        [ "$options" = "$-$(shopt -o)" ] && echo same"""
    )
    assert ran.out == "same\n"


REPORTING = [
    "mcp_result_success '{a'",
    "mcp_result_success",
    "mcp_result_error ''",
    "mcp_result_error '[1'",
    "mcp_error",
    "mcp_error not_found gone --data '{'",
    "mcp_json_truncate '{a' 10",
    "mcp_json_truncate '[[[' 10 --array-path .a",
    "mcp_json_truncate",
    "mcp_download_safe",
    "mcp_download_safe --url http://x --out",
    "mcp_result_text_with_resource",
    "mcp_result_text_with_resource x --path /nowhere",
    "mcp_extract_cli_error '' '' 3",
    "mcp_extract_cli_error",
    "mcp_result_with_ui",
]


@pytest.mark.parametrize("call", REPORTING)
def test_a_function_that_reports_by_its_output_has_status_0(sandbox: Sandbox, call: str) -> None:
    ran = sandbox.run(f"{call}; echo; echo went on")
    assert (ran.out.splitlines()[-1], ran.code) == ("went on", 0), ran.err
    assert ran.out.splitlines()[0]


# Each is given the payload as its last argument, but for those that read it themselves.
TRACED = [
    "mcp_args_get .password #",
    "mcp_args_require .password #",
    "mcp_meta_get .password #",
    "mcp_require_path .password #",
    "mcp_result_success",
    "mcp_error denied",
    "mcp_result_error",
    "mcp_json_obj password",
    "mcp_json_arr",
    "mcp_json_truncate",
    "mcp_is_valid_json",
    "mcp_emit_text",
    "mcp_log_info x",
    "mcp_log info x",
    "mcp_progress 1",
    "mcp_config_load --defaults",
    "mcp_extract_cli_error",
    "mcp_result_text_with_resource",
    "mcp_result_with_ui ui://a/b",
    "mcp_elicit_string",
    "mcp_download_safe --url",
    "mcp_fail -32000",
]


@pytest.mark.parametrize("call", TRACED)
def test_no_payload_shows_in_a_trace_but_in_the_lines_of_the_script(
    sandbox: Sandbox, call: str
) -> None:
    payload = json.dumps({"password": "hunter2"})
    ran = sandbox.run(
        f"""run() {{ {call} "$PAYLOAD"
        case $- in *x*) echo "still traced" >&2 ;; esac; }}
        set -x; (run) >/dev/null || :""",
        MCP_TOOL_ARGS_JSON=payload,
        MCP_TOOL_META_JSON=payload,
        MCP_ELICIT_SUPPORTED="0",
        PAYLOAD=payload,
    )
    shown = [line for line in ran.err.splitlines() if "hunter2" in line]
    assert all(line.startswith(f"+ {call.split()[0]} ") for line in shown), shown
    if call not in ("mcp_fail -32000", "mcp_require_path .password #"):
        assert "still traced" in ran.err.splitlines()


def test_nothing_of_the_arguments_shows_when_a_traced_script_sources_the_sdk(
    sandbox: Sandbox,
) -> None:
    ran = sandbox.run_bare(
        'set -x; . "$MCP_SDK/tool-sdk.sh"; mcp_args_get .password >/dev/null; echo on',
        MCP_TOOL_ARGS_JSON='{"password":"hunter2"}',
    )
    assert (ran.out, "hunter2" in ran.err, "mcp_args_get .password" in ran.err) == (
        "on\n",
        False,
        True,
    )
