"""toolyard inspect and toolyard call: any MCP server, by name, URL or command."""

from __future__ import annotations

import json
import shlex
import sys

from tests.cli.program import at_a_terminal, toolyard
from tests.gateway.yard import ECHO, SEARCH, Yard
from tests.peers.serving import serving


def command(yard: Yard, *tools: object) -> list[str]:
    stdio = yard.upstream("u", *tools)["stdio"]
    return [stdio["command"], *stdio["args"]]


def test_a_command_is_inspected_as_a_table(yard: Yard) -> None:
    done = toolyard("inspect", *command(yard, SEARCH, ECHO))
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[:3] == [
        "scripted 1",
        "  stdio, revision 2025-11-25 (handshake era)",
        "  capabilities: tools (listChanged)",
    ]
    assert lines[4].startswith("Tools (2, about ")
    assert lines[5].split()[:3] == ["search", "(q,", "sort)"]


def test_everything_is_there_for_programs(yard: Yard) -> None:
    told = toolyard("inspect", "--json", *command(yard, SEARCH)).json
    assert (told["era"], told["revision"], told["transport"]) == (
        "handshake",
        "2025-11-25",
        "stdio",
    )
    assert told["server"] == {"name": "scripted", "version": "1"}
    assert told["tools"][0]["inputSchema"] == SEARCH["inputSchema"]


def test_a_server_of_the_registry_is_inspected_and_called_by_its_name(yard: Yard) -> None:
    yard.registry(servers=[yard.upstream("mine", ECHO)])
    assert toolyard("inspect", "--json", "mine", cwd=yard.root).json["error"] is None
    done = toolyard("call", "mine", "echo", "--args", '{"a": 1}', cwd=yard.root)
    assert (done.code, done.out) == (0, '{"a": 1}\n')
    assert yard.calls() == [["mine", "echo", {"a": 1}]]


async def test_a_url_is_inspected_and_called(yard: Yard) -> None:
    yard.script("hello", 'echo "hello $(jq -r .name <<<"$MCP_TOOL_ARGS_JSON")"', description="Hi")
    async with serving(yard.root) as server:
        told = toolyard("inspect", "--json", server.url).json
        assert (told["era"], told["transport"]) == ("modern", "streamablehttp")
        done = toolyard("call", server.url, "hello", "--args", '{"name": "Ann"}', "--json")
        assert done.json["content"] == [{"type": "text", "text": "hello Ann"}]
    assert toolyard("call", server.url, "hello", "--timeout", "3").code == 1


def test_a_command_in_quotes_is_called(yard: Yard) -> None:
    quoted = shlex.join(command(yard, ECHO, {"name": "bad", "error": {"code": 7, "message": "no"}}))
    assert toolyard("call", quoted, "echo", "--args", "{}").out == "{}\n"
    failed = toolyard("call", quoted, "bad")
    assert (failed.code, failed.out) == (1, "")
    assert "no (7)" in failed.err


def test_a_failed_call_has_its_text_and_an_exit_code(yard: Yard) -> None:
    result = {"content": [{"type": "text", "text": "it is full"}], "isError": True}
    quoted = shlex.join(command(yard, {"name": "bad", "result": result}))
    done = toolyard("call", quoted, "bad")
    assert (done.code, done.out) == (1, "it is full\n")
    assert toolyard("call", quoted, "bad", "--json").json == result


def test_a_server_that_does_not_start_leaves_its_last_words(yard: Yard) -> None:
    done = toolyard("inspect", "sh", "-c", "echo no database here >&2; exit 3")
    assert (done.code, done.out) == (1, "")
    assert "no database here" in done.err


def test_a_tool_may_ask_the_person_at_the_terminal(yard: Yard) -> None:
    asking = 'mcp_elicit_string "Your name?" name | jq -r .content.name'
    yard.script("ask", f'. "$MCP_SDK/tool-sdk.sh"\n{asking}', elicitation=True)
    program = shlex.join([*_serve(yard)])
    done = at_a_terminal("call", program, "ask", typed=[("Your name?", "Ann")], cwd=yard.root)
    assert done.out == "Ann\n", done


def _serve(yard: Yard) -> list[str]:
    return [sys.executable, "-m", "toolyard", "serve", str(yard.root)]


def test_arguments_that_are_no_json_are_refused(yard: Yard) -> None:
    done = toolyard("call", "http://127.0.0.1:9/mcp", "x", "--args", "[1]")
    assert done.code == 2
    assert json.dumps("JSON object").strip('"') in done.err
