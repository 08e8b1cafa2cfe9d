"""What somebody sees who looks for a fault: messages, logs, stderr, traces."""

from __future__ import annotations

import re
import stat
from pathlib import Path

import pytest

from tests.hooks.yard import Yard, mcp_bash, text_of
from tests.peers.raw import StdioClient, over_stdio
from tests.peers.raw_http import over_http
from tests.peers.serving import listening, toolyard

SECRET = "correct-horse-battery-staple-0123456789"


def payload_file(said: str) -> Path:
    found = re.search(r"debug: logging to (\S+)", said)
    assert found, said
    return Path(found.group(1))


async def end(client: StdioClient) -> str:
    await client.end_of_input()
    return await client.running.last_words()


@pytest.mark.parametrize("program", ["toolyard", "mcp-bash"])
async def test_debug_writes_every_message_to_a_private_file(
    yard: Yard, tmp_path: Path, program: str
) -> None:
    yard.tool("echo", 'printf "%s" "$MCP_TOOL_ARGS_JSON"')
    command = mcp_bash("debug") if program == "mcp-bash" else toolyard("debug", yard.root)
    env = {"TMPDIR": str(tmp_path), "MCPBASH_TOOL_ALLOWLIST": "*"}
    async with over_stdio(command, cwd=yard.root, env=env) as client:
        await client.call("echo", {"n": 1}, id="my-call")
        said = await end(client)
    file = payload_file(said)
    assert f"{program} debug: logging to" in said
    lines = file.read_text().splitlines()
    # mcp-bash announces its lists at a cold start.
    said_by_itself = ["notification", "-", "out"]
    written = [line.split("|")[1:4] for line in lines]
    assert [entry for entry in written if entry != said_by_itself] == [
        ["request", "1", "in"],
        ["response", "1", "out"],
        ["notification", "-", "in"],
        ["request", '"my-call"', "in"],
        ["response", '"my-call"', "out"],
    ]
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


async def test_secrets_are_masked_by_name_and_by_value(yard: Yard, tmp_path: Path) -> None:
    yard.tool("echo", 'printf "%s" "$MCP_TOOL_ARGS_JSON"')
    env = {"MCPBASH_DEBUG_PAYLOADS": "true", "MCPBASH_LOG_DIR": str(tmp_path / "logs")}
    env |= {"MCP_REGISTRY_TOKEN": SECRET}
    arguments = {
        "apiKey": "k1-hidden",
        "user_password": 'p2"hidden',
        "x-authorization": "Bearer b3-hidden",
        "nested": {"accessToken": "t4-hidden", "pin_secret": 12345},
        "note": f"look: {SECRET}",
        "plain": "shown",
    }
    async with over_stdio(yard.served, env=env) as client:
        await client.call("echo", arguments, meta={"progressToken": "p1"})
        await end(client)
    text = (tmp_path / "logs" / "payload.debug.log").read_text()
    assert "hidden" not in text and "12345" not in text and SECRET not in text
    assert '"plain": "shown"' in text and '"progressToken": "p1"' in text


async def test_debug_over_http_writes_what_is_posted_and_answered(
    yard: Yard, tmp_path: Path
) -> None:
    yard.tool("echo", 'printf "%s" "$MCP_TOOL_ARGS_JSON"')
    command = toolyard("debug", yard.root, "--http", "127.0.0.1:0")
    env = {"MCPBASH_LOG_DIR": str(tmp_path / "logs")}
    async with (
        listening(command, env=env) as server,
        over_http(server.url, "2026-07-28") as client,
    ):
        await client.call("echo", {"token": "hidden", "n": 7}, id="http-call")
    text = (tmp_path / "logs" / "payload.debug.log").read_text()
    assert '|request|"http-call"|in|' in text and '|response|"http-call"|out|' in text
    assert "hidden" not in text


async def test_scripts_write_their_debug_lines_beside_it(yard: Yard, tmp_path: Path) -> None:
    yard.tool("chat", 'source "$MCP_SDK/tool-sdk.sh"; mcp_debug "from the tool"; echo ok')
    env = {"MCPBASH_LOG_DIR": str(tmp_path)}
    async with over_stdio(toolyard("debug", yard.root), env=env) as client:
        assert text_of(await client.call("chat")) == "ok"
        await end(client)
    assert "from the tool" in (tmp_path / "tools.debug.log").read_text()
    assert (tmp_path / "toolyard.log").exists()


async def test_without_debug_nothing_is_written(yard: Yard, tmp_path: Path) -> None:
    yard.tool("any")
    async with over_stdio(yard.served, env={"TMPDIR": str(tmp_path)}) as client:
        await client.call("any")
        said = await end(client)
    assert "logging to" not in said and list(tmp_path.glob("*debug*")) == []


async def test_a_marker_in_the_project_turns_debug_logs_on(yard: Yard) -> None:
    yard.tool("any")
    yard.write("server.d/.debug", "")
    yard.write("server.d/policy.sh", "mcp_tools_policy_check() { mcp_logging_debug p seen; }\n")
    async with over_stdio(yard.served) as client:
        await client.call("any")
        assert "debug   policy.sh: p seen" in await end(client)
    async with over_stdio(yard.served, env={"MCPBASH_LOG_LEVEL": "info"}) as client:
        await client.call("any")
        assert "p seen" not in await end(client)


async def test_stderr_of_scripts_can_be_seen_as_it_comes_and_forges_no_line(yard: Yard) -> None:
    path = yard.tool("noisy", "printf 'first\\n\\033[31mred\\rover\\nlast' >&2; echo ok")
    async with over_stdio(yard.served, env={"MCPBASH_TOOL_STREAM_STDERR": "true"}) as client:
        assert text_of(await client.call("noisy")) == "ok"
        said = await end(client)
    assert f"info    {path}: first\n" in said
    assert f"{path}: \\x1b[31mred\\rover\n" in said and f"{path}: last" in said


async def test_what_a_bash_tool_does_can_be_traced(yard: Yard, tmp_path: Path) -> None:
    yard.tool("steps", 'x=1\necho "got $x"')
    env = {"MCPBASH_TRACE_TOOLS": "true", "MCPBASH_LOG_DIR": str(tmp_path)}
    async with over_stdio(yard.served, env=env) as client:
        assert text_of(await client.call("steps")) == "got 1"
        await end(client)
    (trace,) = tmp_path.glob("trace.steps.*.log")
    assert "+ tool.sh:3: echo 'got 1'" in trace.read_text()
    assert stat.S_IMODE(trace.stat().st_mode) == 0o600


async def test_our_log_is_kept_in_a_folder_as_well_and_the_start_can_be_told(
    yard: Yard, tmp_path: Path
) -> None:
    env = {"MCPBASH_LOG_DIR": str(tmp_path / "logs"), "MCPBASH_LOG_STARTUP": "true"}
    async with over_stdio(yard.served, env={**env, "MCPBASH_LOG_JSON_TOOL": "log"}) as client:
        said = await end(client)
    kept = (tmp_path / "logs" / "toolyard.log").read_text()
    for line in ("serving yard over stdio", "scripts use "):
        assert line in said and line in kept


async def test_a_quiet_server_says_errors_only(yard: Yard) -> None:
    yard.write("tools/broken/tool.meta.json", "{")
    yard.script("tools/broken/tool.sh", "echo")
    async with over_stdio(yard.served, env={"MCPBASH_QUIET": "true"}) as client:
        await client.result("tools/list")
        assert await end(client) == ""
