"""toolyard run-tool: flags, results, errors, a person at a terminal."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Yard
from tests.cli.program import at_a_terminal, mcp_bash, toolyard

SDK = 'source "${MCP_SDK:?}/tool-sdk.sh"\n'


def test_the_result_is_one_line_of_json(yard: Yard) -> None:
    done = toolyard("run-tool", "echo", "--args", '{"n": 1}', cwd=yard.root)
    assert (done.code, done.out.count("\n")) == (0, 1)
    assert done.json["structuredContent"] == {"n": 1}
    assert done.json["isError"] is False


def test_arguments_come_from_a_file(yard: Yard) -> None:
    yard.write("arguments.json", {"n": 2})
    done = toolyard("run-tool", "echo", "--args", "@arguments.json", cwd=yard.root)
    assert done.json["structuredContent"] == {"n": 2}


def test_arguments_come_from_stdin(yard: Yard) -> None:
    done = toolyard("run-tool", "echo", "--args", "@-", cwd=yard.root, stdin='{"n": 3}')
    assert done.json["structuredContent"] == {"n": 3}


def test_a_file_that_is_missing_is_named(yard: Yard) -> None:
    done = toolyard("run-tool", "echo", "--args", "@nowhere.json", cwd=yard.root)
    assert (done.code, done.out) == (2, "")
    assert "nowhere.json: cannot be read" in done.err


def test_arguments_that_are_no_object_are_a_usage_error(yard: Yard) -> None:
    done = toolyard("run-tool", "echo", "--args", "[1]", cwd=yard.root)
    assert (done.code, done.out, done.err) == (2, "", "--args: must be a JSON object\n")


def test_an_unknown_tool_is_an_error_in_the_known_shape(yard: Yard) -> None:
    done = toolyard("run-tool", "ecko", cwd=yard.root)
    assert done.code == 1
    assert done.json == {
        "_mcpToolError": True,
        "code": -32602,
        "message": "Tool 'ecko' not found (did you mean 'echo'?)",
        "data": {"name": "ecko"},
    }


def test_an_error_that_the_tool_raises_keeps_code_and_data(yard: Yard) -> None:
    yard.tool("fails", SDK + "mcp_fail -32050 'no such planet' '{\"planet\":\"X\"}'")
    done = toolyard("run-tool", "fails", cwd=yard.root)
    assert done.code == 1
    assert done.json == {
        "_mcpToolError": True,
        "code": -32050,
        "message": "no such planet",
        "data": {"planet": "X"},
    }


def test_a_tool_that_fails_makes_the_command_fail(yard: Yard) -> None:
    yard.tool("fails", "echo broken >&2; exit 3")
    done = toolyard("run-tool", "fails", cwd=yard.root)
    assert (done.code, done.json["isError"], done.json["_meta"]["exitCode"]) == (1, True, 3)
    assert done.text == "broken"


def test_wrong_arguments_are_told_before_anything_runs(yard: Yard) -> None:
    done = toolyard("run-tool", "echo", "--args", '{"n": "one"}', cwd=yard.root)
    assert (done.code, done.json["isError"]) == (1, True)
    assert "/n" in done.text


def test_a_dry_run_checks_and_runs_nothing(yard: Yard) -> None:
    yard.tool("leaves", "touch ran", {"timeoutSecs": 7})
    done = toolyard("run-tool", "leaves", "--dry-run", cwd=yard.root)
    assert done.code == 0
    assert (done.json["valid"], done.json["timeoutSecs"]) == (True, 7)
    assert done.json["path"] == str(yard.root / "tools/leaves/tool.sh")
    assert not (yard.root / "ran").exists()


def test_a_dry_run_says_what_is_wrong_with_the_arguments(yard: Yard) -> None:
    done = toolyard("run-tool", "echo", "--dry-run", "--args", '{"n": []}', cwd=yard.root)
    assert (done.code, done.json["valid"]) == (1, False)
    assert "integer" in done.json["problem"]


def test_the_timeout_of_the_command_line_holds(yard: Yard) -> None:
    yard.tool("sleeps", "sleep 30")
    done = toolyard("run-tool", "sleeps", "--timeout", "0.2", cwd=yard.root)
    assert (done.code, done.json["_meta"]["exitCode"]) == (1, 124)
    assert done.json["structuredContent"]["error"]["type"] == "timeout"


def test_the_environment_is_shown_without_secrets(yard: Yard) -> None:
    env = {"MCPBASH_REMOTE_TOKEN": "t" * 32, "MCPBASH_X": "kept", "OTHER": "dropped"}
    done = toolyard("run-tool", "echo", "--print-env", cwd=yard.root, env=env)
    assert done.code == 0
    assert "MCP_TOOL_NAME=echo\n" in done.out
    assert "MCPBASH_X=kept\n" in done.out
    assert "t" * 32 not in done.out
    assert "OTHER" not in done.out


def test_roots_are_the_folders_that_were_named(yard: Yard, tmp_path: Path) -> None:
    yard.tool("roots", 'printf "%s" "$MCP_ROOTS_PATHS"')
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    roots = f"{tmp_path / 'a'},{tmp_path / 'b'}"
    done = toolyard("run-tool", "roots", "--roots", roots, cwd=yard.root)
    assert done.text.split("\n") == roots.split(",")


def test_without_a_refresh_the_registry_file_is_believed(yard: Yard) -> None:
    toolyard("registry", "refresh", cwd=yard.root)
    yard.tool("later", "echo hi")
    believed = toolyard("run-tool", "later", "--no-refresh", cwd=yard.root)
    assert believed.json["code"] == -32602
    assert toolyard("run-tool", "later", cwd=yard.root).text == "hi"


def test_minimal_mode_has_no_tools(yard: Yard) -> None:
    done = toolyard("run-tool", "echo", "--minimal", cwd=yard.root)
    assert (done.code, done.json["code"]) == (1, -32601)


def test_mcp_bash_denies_by_default_and_says_what_to_type(yard: Yard) -> None:
    done = mcp_bash("run-tool", "echo", cwd=yard.root)
    assert (done.code, done.json["code"]) == (1, -32602)
    assert done.json["message"] == (
        "Tool 'echo' blocked by policy. Try: mcp-bash run-tool echo --allow-self ..."
    )


def test_each_way_to_allow_a_tool_works(yard: Yard) -> None:
    for flags in (["--allow-self"], ["--allow", "echo"], ["--allow-all"]):
        assert mcp_bash("run-tool", "echo", *flags, cwd=yard.root).code == 0, flags
    assert mcp_bash("run-tool", "echo", "--allow", "other", cwd=yard.root).code == 1


def test_toolyard_allows_what_the_allowlist_does_not_forbid(yard: Yard) -> None:
    narrowed = {"MCPBASH_TOOL_ALLOWLIST": "other"}
    assert toolyard("run-tool", "echo", cwd=yard.root, env=narrowed).code == 1
    allowed = toolyard("run-tool", "echo", "--allow-self", cwd=yard.root, env=narrowed)
    assert allowed.code == 0


def test_files_are_sourced_before_the_tool_runs(yard: Yard) -> None:
    yard.tool("tells", 'printf "%s %s" "$MCPBASH_ONE" "$MCPBASH_TWO"')
    yard.write("server.d/env.sh", "MCPBASH_ONE=1\n")
    yard.write("more.sh", "export MCPBASH_TWO=$((MCPBASH_ONE + 1))\n")
    flags = ["--with-server-env", "--source", "more.sh"]
    assert toolyard("run-tool", "tells", *flags, cwd=yard.root).text == "1 2"


def test_a_sourced_file_that_fails_is_named(yard: Yard) -> None:
    yard.write("bad.sh", "return 1\n")
    done = toolyard("run-tool", "echo", "--source", "bad.sh", cwd=yard.root)
    assert (done.code, done.out) == (2, "")
    assert "bad.sh: failed" in done.err


def test_verbose_shows_progress_logs_and_stderr(yard: Yard) -> None:
    yard.tool("busy", SDK + "mcp_progress 1 half 2; mcp_log_debug fine; echo oops >&2")
    done = toolyard("run-tool", "busy", "--verbose", cwd=yard.root)
    assert "[##########..........]  50% half" in done.err
    assert "debug: fine" in done.err
    assert "oops" in done.err


def test_without_a_terminal_questions_are_declined(yard: Yard) -> None:
    yard.tool("asks", SDK + "mcp_elicit_string 'Your name?'")
    done = toolyard("run-tool", "asks", cwd=yard.root)
    assert done.json["structuredContent"]["action"] == "decline"


def test_a_person_answers_questions_at_the_terminal(yard: Yard) -> None:
    schema = (
        '{"type":"object","required":["n","sure"],"properties":{"n":{"type":"integer",'
        '"title":"How many","minimum":1},"sure":{"type":"boolean"},"of":{"type":"string",'
        '"enum":["tea","milk"],"default":"tea"}}}'
    )
    yard.tool("asks", f"{SDK}mcp_elicit 'What do you want?' '{schema}'")
    typed = [("How many: ", "none"), ("a whole number: ", "0"), ("at least 1: ", "3")]
    typed += [("sure (y/n): ", "y"), ("of (tea | milk; default tea): ", "")]
    done = at_a_terminal("run-tool", "asks", typed=typed, cwd=yard.root)
    answer = {"action": "accept", "content": {"n": 3, "sure": True, "of": "tea"}}
    assert done.json["structuredContent"] == answer
    assert "What do you want?" in done.err


def test_a_script_that_asks_in_rounds_is_answered_too(yard: Yard) -> None:
    first = (
        '{"resultType":"input_required","requestState":"s1","inputRequests":{"q":{"method":'
        '"elicitation/create","params":{"mode":"form","message":"Colour?","requestedSchema":'
        '{"type":"object","properties":{"c":{"type":"string"}},"required":["c"]}}}}}'
    )
    yard.tool(
        "rounds",
        f"if [ -z \"${{MCP_REQUEST_STATE:-}}\" ]; then echo '{first}'; else "
        'printf "%s" "$MCP_INPUT_RESPONSES_JSON"; fi',
    )
    done = at_a_terminal("run-tool", "rounds", typed=[("c: ", "red")], cwd=yard.root)
    assert done.json["structuredContent"]["q"]["content"] == {"c": "red"}
