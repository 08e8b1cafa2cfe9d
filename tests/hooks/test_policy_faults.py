"""server.d/policy.sh fails closed: what goes wrong in a check denies the call and says why."""

from __future__ import annotations

from typing import Any

import pytest

from tests.hooks.yard import Yard, text_of
from tests.peers.raw import over_stdio


@pytest.fixture
def yard(yard: Yard) -> Yard:
    yard.tool("run", annotations={"destructiveHint": True}, title='Say "hi"')
    return yard


async def answer(yard: Yard, check: str, head: str = "") -> dict[str, Any]:
    """The error of a call under this check; empty where it was let in."""
    yard.policy(f"{head}\nmcp_tools_policy_check() {{\n{check}\n}}")
    async with over_stdio(yard.served) as client:
        response = await client.request("tools/call", {"name": "run", "arguments": {}})
    if "error" in response:
        error: dict[str, Any] = response["error"]
        return error
    assert text_of(response["result"]) == "ran"
    return {}


NOT_FOUND = {
    "code": -32603,
    "message": "Tool 'run' blocked: policy.sh: aloww_tool: command not found",
}


@pytest.mark.parametrize(
    "check",
    [
        "aloww_tool x",
        "aloww_tool x; return 0",
        "if aloww_tool; then return 1; fi",
        "aloww_tool || true",
        "! aloww_tool",
        "verdict=$(aloww_tool); return 0",
        "echo x | aloww_tool | cat",
        "( aloww_tool ); return 0",
    ],
)
@pytest.mark.parametrize("head", ["", "set -euo pipefail"])
async def test_a_command_that_does_not_exist_denies(yard: Yard, check: str, head: str) -> None:
    assert await answer(yard, check, head) == NOT_FOUND


async def test_a_misspelt_command_outside_of_the_check_denies_everything(yard: Yard) -> None:
    error = await answer(yard, "return 0", "exprot ALLOWED=run")
    assert error["code"] == -32603
    assert "policy.sh: line 1: exprot: command not found" in error["message"]


@pytest.mark.parametrize(
    ("check", "why"),
    [
        ("false; return 0", "line 3: false (status 1)"),
        ("grep -q nothing /dev/null\nreturn 0", "line 3: grep -q nothing /dev/null (status 1)"),
        ("x=$(exit 7)\nreturn 0", "line 3: x=$(exit 7) (status 7)"),
    ],
)
async def test_a_command_that_fails_denies_where_the_policy_has_errexit(
    yard: Yard, check: str, why: str
) -> None:
    message = f"Tool 'run' blocked by policy (policy.sh, {why})"
    assert await answer(yard, check, "set -e") == {"code": -32602, "message": message}
    assert await answer(yard, check) == {}


async def test_a_variable_that_is_not_set_denies_where_the_policy_has_nounset(yard: Yard) -> None:
    check = '[ "$POLICY_NOT_SET" = x ]; return 0'
    assert (await answer(yard, check, "set -u"))["code"] == -32602
    assert await answer(yard, check) == {}


@pytest.mark.parametrize("head", ["", "set -euo pipefail"])
async def test_a_policy_with_strict_options_still_decides_as_it_says(yard: Yard, head: str) -> None:
    assert await answer(yard, "return 0", head) == {}
    assert await answer(yard, "false || return 0; return 1", head) == {}
    denied = {"code": -32602, "message": "Tool 'run' blocked by policy"}
    assert await answer(yard, "return 3", head) == denied
    own = 'mcp_tools_error -32001 "not today"; return 1'
    assert await answer(yard, own, head) == {"code": -32001, "message": "not today"}


READ = """
hint=$(mcp_json_extract_optional "$2" "-r" '.annotations.destructiveHint // false' false)
[ "$hint" = true ] || return 0
mcp_tools_error -32001 "destructive: $(mcp_json_extract_optional "$2" -r .title nothing)" \
	"{\\"title\\":$(mcp_json_quote_text "$(mcp_json_extract_optional "$2" -r .title '')")}"
return 1
"""


@pytest.mark.parametrize("head", ["", "set -euo pipefail"])
async def test_a_policy_reads_the_metadata_of_a_tool(yard: Yard, head: str) -> None:
    assert await answer(yard, READ, head) == {
        "code": -32001,
        "message": 'destructive: Say "hi"',
        "data": {"title": 'Say "hi"'},
    }


OPTIONAL = [
    ("""'{"a":1}' -c .a d""", "1"),
    ("""'{"a":"x"}' '-r -c' .a d""", "x"),
    ("""'{"a":null}' -r '.a // empty' d""", "d"),
    ("""'{"a":1}' -e .b d""", "d"),
    ("'{broken' -r .a d", "d"),
    ("'' -r .a d", "d"),
    ("'{}' -r '.a[' d", "d"),
    ("'[1]' -r .a d", "d"),
]


@pytest.mark.parametrize(("arguments", "printed"), OPTIONAL)
async def test_what_cannot_be_extracted_is_the_default(
    yard: Yard, arguments: str, printed: str
) -> None:
    check = f'mcp_tools_error -32001 "$(mcp_json_extract_optional {arguments})"; return 1'
    assert (await answer(yard, check, "set -eu"))["message"] == printed


async def test_text_is_quoted_and_escaped_for_json(yard: Yard) -> None:
    check = r"""text=$'a "b" \\ \n\001'
    mcp_tools_error -32001 "$(mcp_json_quote_text "$text") $(mcp_json_escape_string "$text")"
    return 1"""
    assert (await answer(yard, check, "set -eu"))["message"] == (
        r'"a \"b\" \\ \n\u0001" a \"b\" \\ \n\u0001'
    )
