"""server.d/policy.sh, through the program: it decides, and its faults deny."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.hooks.yard import Yard, mcp_bash, text_of
from tests.peers.raw import RawClient, over_stdio
from tests.peers.raw_http import over_http
from tests.peers.serving import serving
from tests.until import until

pytestmark = pytest.mark.long

BY_NAME = """
mcp_tools_policy_check() {
	case $1 in
	no*) mcp_tools_error -32001 "not today" '{"tool":"'"$1"'"}'; return 1 ;;
	plain*) return 3 ;;
	esac
}
"""


@pytest.fixture
def yard(yard: Yard) -> Yard:
    for name in ("yes", "nope", "plainly"):
        yard.tool(name)
    return yard


@asynccontextmanager
async def served(yard: Yard, **env: str) -> AsyncIterator[RawClient]:
    async with over_stdio(yard.served, env=env) as client:
        yield client


async def denied(client: RawClient, tool: str) -> dict[str, Any]:
    return await client.error("tools/call", {"name": tool, "arguments": {}})


async def test_a_policy_allows_and_denies_with_its_own_words(yard: Yard) -> None:
    yard.policy(BY_NAME)
    async with served(yard) as client:
        assert text_of(await client.call("yes")) == "ran"
        assert await denied(client, "nope") == {
            "code": -32001,
            "message": "not today",
            "data": {"tool": "nope"},
        }


async def test_a_denial_without_words_gets_the_usual_ones(yard: Yard) -> None:
    yard.policy(BY_NAME)
    async with served(yard) as client:
        error = await denied(client, "plainly")
    assert (error["code"], error["message"]) == (-32602, "Tool 'plainly' blocked by policy")


async def test_a_policy_holds_over_http_too(yard: Yard) -> None:
    yard.policy(BY_NAME)
    async with serving(yard.root) as server, over_http(server.url, "2026-07-28") as client:
        assert text_of(await client.call("yes")) == "ran"
        assert (await denied(client, "nope"))["message"] == "not today"


async def test_a_denied_tool_stays_listed(yard: Yard) -> None:
    yard.policy(BY_NAME)
    async with served(yard) as client:
        listed = await client.result("tools/list")
    assert [tool["name"] for tool in listed["tools"]] == ["nope", "plainly", "yes"]


async def test_a_policy_sees_the_metadata_and_variables_of_any_name(yard: Yard) -> None:
    yard.tool("risky", annotations={"destructiveHint": True})
    yard.policy(
        "mcp_tools_policy_check() { [[ $POLICY_MODE != careful || $2 != *destructiveHint* ]]; }"
    )
    async with served(yard, POLICY_MODE="careful") as client:
        assert text_of(await client.call("yes")) == "ran"
        assert "blocked by policy" in (await denied(client, "risky"))["message"]


async def test_no_token_of_ours_reaches_a_policy(yard: Yard) -> None:
    yard.policy('mcp_tools_policy_check() { [ -z "$TOOLYARD_TOKEN$MCP_REGISTRY_TOKEN" ]; }')
    async with served(yard, TOOLYARD_TOKEN="t", MCP_REGISTRY_TOKEN="r") as client:
        assert text_of(await client.call("yes")) == "ran"


async def test_a_policy_that_logs_is_heard_on_stderr_and_harms_no_answer(yard: Yard) -> None:
    yard.policy(
        "mcp_tools_policy_check() { mcp_logging_warning mcp.policy looked; echo noise; cat; }"
    )
    async with over_stdio(yard.served) as client:
        assert text_of(await client.call("yes")) == "ran"
        await client.end_of_input()
        assert "warning policy.sh: mcp.policy looked" in await client.running.last_words()


async def test_one_bash_answers_all_checks_and_a_check_leaves_nothing_to_the_next(
    yard: Yard, tmp_path: Path
) -> None:
    seen = tmp_path / "seen"
    yard.policy(
        f'mcp_tools_policy_check() {{ echo "$$ ${{left-nothing}}" >>{seen}; left=this; exit 0; }}'
    )
    async with served(yard) as client:
        for _ in range(3):
            assert text_of(await client.call("yes")) == "ran"
    lines = seen.read_text().split("\n")[:-1]
    assert len(lines) == 3 and len(set(lines)) == 1
    assert lines[0].endswith(" nothing")


async def test_checks_do_not_wait_for_each_other(yard: Yard, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    yard.policy(f"mcp_tools_policy_check() {{ [ $1 = yes ] || read -r _ <{gate}; }}")
    async with over_stdio(yard.served) as client:
        held = asyncio.create_task(client.call("nope"))
        assert text_of(await client.call("yes")) == "ran"
        assert not held.done()
        await asyncio.to_thread(gate.write_text, "go\n")
        assert text_of(await held) == "ran"


async def test_a_changed_policy_holds_from_the_next_call(yard: Yard) -> None:
    yard.policy("mcp_tools_policy_check() { return 0; }")
    async with served(yard) as client:
        assert text_of(await client.call("nope")) == "ran"
        yard.policy(BY_NAME)
        assert (await denied(client, "nope"))["message"] == "not today"


async def test_a_policy_whose_bash_was_killed_is_loaded_again(yard: Yard, tmp_path: Path) -> None:
    told = tmp_path / "pid"
    yard.policy(f"echo $$ >{told}\n{BY_NAME}")
    async with served(yard) as client:
        assert text_of(await client.call("yes")) == "ran"
        first = int(told.read_text())
        os.kill(first, signal.SIGKILL)
        await until(lambda: not Path(f"/proc/{first}").exists())
        assert text_of(await client.call("yes")) == "ran"
        assert int(told.read_text()) != first


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("mcp_tools_policy_check() {", "syntax error"),
        ("echo out of order >&2; exit 7", "failed with exit code 7: out of order"),
        ("exit 0", "policy.sh ended"),
        ("false", "failed with exit code 1"),
        ("mcp_tools_policy_check() { kill -9 $BASHPID; }", "did not decide within 1s"),
        ("mcp_tools_policy_check() { kill -9 $$; exec sleep 600; }", "policy.sh"),
    ],
)
async def test_a_policy_that_fails_denies_every_call_and_says_why(
    yard: Yard, body: str, why: str
) -> None:
    yard.policy(body)
    async with served(yard, MCPBASH_DEFAULT_TOOL_TIMEOUT="1") as client:
        for _ in range(2):
            error = await denied(client, "yes")
            assert error["code"] == -32603
            assert error["message"].startswith("Tool 'yes' blocked: ") and why in error["message"]


async def test_a_policy_that_others_may_write_denies_every_call(yard: Yard) -> None:
    policy = yard.policy("mcp_tools_policy_check() { return 0; }")
    async with served(yard) as client:
        assert text_of(await client.call("yes")) == "ran"
        policy.chmod(0o664)
        assert f"{policy}: can be written by group" in (await denied(client, "yes"))["message"]
        policy.chmod(0o644)
        assert text_of(await client.call("yes")) == "ran"


@pytest.mark.parametrize("place", [".", "server.d"])
async def test_the_folders_of_a_policy_are_part_of_its_safety(yard: Yard, place: str) -> None:
    yard.policy("mcp_tools_policy_check() { return 0; }")
    (yard.root / place).chmod(0o775)
    async with served(yard) as client:
        assert "can be written by group" in (await denied(client, "yes"))["message"]


async def test_a_policy_behind_a_link_denies_every_call(yard: Yard, tmp_path: Path) -> None:
    elsewhere = yard.policy("mcp_tools_policy_check() { return 0; }").rename(tmp_path / "p.sh")
    (yard.root / "server.d" / "policy.sh").symlink_to(elsewhere)
    async with served(yard) as client:
        assert "is a link" in (await denied(client, "yes"))["message"]


async def test_a_policy_that_is_taken_away_leaves_nothing_open(yard: Yard) -> None:
    policy = yard.policy(BY_NAME)
    async with served(yard) as client:
        assert text_of(await client.call("yes")) == "ran"
        policy.unlink()
        assert "cannot be read" in (await denied(client, "yes"))["message"]


async def test_a_check_of_its_own_stands_for_the_default_of_the_command(yard: Yard) -> None:
    yard.policy(BY_NAME)
    async with over_stdio(mcp_bash(), cwd=yard.root) as client:
        assert text_of(await client.call("yes")) == "ran"
        assert (await denied(client, "nope"))["message"] == "not today"


async def test_a_policy_without_a_check_leaves_it_to_the_allowlist(yard: Yard) -> None:
    yard.policy(": nothing to say")
    async with over_stdio(mcp_bash(), cwd=yard.root) as client:
        assert "Set MCPBASH_TOOL_ALLOWLIST" in (await denied(client, "yes"))["message"]


async def test_a_list_that_the_operator_wrote_holds_beside_a_policy(yard: Yard) -> None:
    yard.policy("mcp_tools_policy_check() { return 0; }")
    async with served(yard, MCPBASH_TOOL_ALLOWLIST="yes") as client:
        assert text_of(await client.call("yes")) == "ran"
        assert "not in MCPBASH_TOOL_ALLOWLIST" in (await denied(client, "nope"))["message"]


async def test_nothing_of_a_policy_outlives_a_server_that_is_killed(
    yard: Yard, tmp_path: Path
) -> None:
    told = tmp_path / "pid"
    yard.policy(f"echo $$ >{told}\nmcp_tools_policy_check() {{ sleep 600 & }}")
    async with over_stdio(yard.served) as client:
        assert text_of(await client.call("yes")) == "ran"
        client.running.process.kill()
        group = int(told.read_text())
        await until(lambda: not is_alive(group))


def is_alive(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True
