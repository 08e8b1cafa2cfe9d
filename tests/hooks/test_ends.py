"""How a stdio server ends: shutdown and exit, silence, the death of who started it."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import pytest

from tests.hooks.yard import Yard, mcp_bash
from tests.peers.raw import StdioClient, over_stdio
from tests.peers.raw_http import over_http
from tests.peers.serving import environment, serving
from tests.until import until, until_exists

ALLOWED = {"MCPBASH_TOOL_ALLOWLIST": "*"}


async def ended(client: StdioClient, within: float = 60.0) -> int:
    async with asyncio.timeout(within):
        return await client.running.process.wait()


async def test_exit_after_shutdown_ends_the_program(yard: Yard) -> None:
    async with over_stdio(mcp_bash(), cwd=yard.root) as client:
        assert await client.result("shutdown") == {}
        assert (await client.error("tools/list"))["code"] == -32003
        assert await client.result("exit") == {}
        assert await ended(client) == 0


async def test_a_client_that_is_ready_only_after_shutdown_gets_no_further(yard: Yard) -> None:
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t"}}
    async with over_stdio(mcp_bash(), cwd=yard.root, start=False) as client:
        await client.result("initialize", hello)
        await client.result("shutdown")
        await client.notify("notifications/initialized")
        assert (await client.error("tools/list"))["code"] == -32003


async def test_a_notification_exits_too(yard: Yard) -> None:
    async with over_stdio(mcp_bash(), cwd=yard.root) as client:
        await client.result("shutdown")
        await client.notify("exit")
        assert await ended(client) == 0


async def test_exit_without_shutdown_is_refused_and_ends_nothing(yard: Yard) -> None:
    async with over_stdio(mcp_bash(), cwd=yard.root) as client:
        await client.notify("exit")
        error = await client.error("exit")
        assert (error["code"], error["message"]) == (-32005, "Shutdown not requested")
        assert await client.result("ping") == {}


async def test_after_shutdown_the_program_ends_by_itself_with_what_still_runs(
    yard: Yard, tmp_path: Path
) -> None:
    told = tmp_path / "pid"
    yard.tool("hang", f"echo $$ >{told}; exec sleep 600")
    env = {**ALLOWED, "MCPBASH_SHUTDOWN_TIMEOUT": "0.3"}
    async with over_stdio(mcp_bash(), cwd=yard.root, env=env) as client:
        await client.begin(client.message("tools/call", {"name": "hang"}))
        await until_exists(told)
        await client.result("shutdown")
        assert await ended(client) == 0
    assert not Path(f"/proc/{int(told.read_text())}").exists()


async def test_shutdown_and_exit_are_for_stdio_only(yard: Yard) -> None:
    async with serving(yard.root) as server, over_http(server.url) as client:
        assert (await client.error("shutdown"))["code"] == -32601
        assert (await client.error("exit"))["code"] == -32601


async def test_a_server_that_hears_nothing_leaves(yard: Yard) -> None:
    async with over_stdio(yard.served, env={"MCPBASH_IDLE_TIMEOUT": "3"}) as client:
        assert await ended(client) == 0
        assert "nothing was received for 3 s" in await client.running.last_words()


async def test_a_running_call_is_no_silence(yard: Yard, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    yard.tool("wait", f"read -r _ <{gate}; echo done")
    async with over_stdio(yard.served, env={"MCPBASH_IDLE_TIMEOUT": "3"}) as client:
        answer = await client.begin(client.message("tools/call", {"name": "wait"}))
        await asyncio.wait([answer], timeout=4.5)
        assert client.running.process.returncode is None
        await asyncio.to_thread(gate.write_text, "go\n")
        assert (await answer)["result"]["content"][0]["text"].strip() == "done"
        assert await ended(client) == 0


async def test_idle_exit_can_be_turned_off(yard: Yard) -> None:
    env = {"MCPBASH_IDLE_TIMEOUT": "0.1", "MCPBASH_IDLE_TIMEOUT_ENABLED": "false"}
    async with over_stdio(yard.served, env=env) as client:
        with pytest.raises(TimeoutError):
            await ended(client, 0.5)


# Starts a server whose pipes outlive it, says its number, and is gone.
PARENT = """
import os, subprocess, sys
child = subprocess.Popen(sys.argv[1:], stdin=0, stdout=subprocess.DEVNULL)
os.write(1, b"%d\\n" % child.pid)
os.read(3, 1)
"""


async def test_a_server_whose_parent_is_gone_leaves(yard: Yard) -> None:
    reading, writing = os.pipe()
    holding, input_end = os.pipe()
    try:
        parent = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", PARENT.replace("3, 1", f"{reading}, 1"), *yard.served),
            stdin=holding,
            stdout=asyncio.subprocess.PIPE,
            pass_fds=[reading],
            env=environment({"MCPBASH_ORPHAN_CHECK_INTERVAL": "0.1"}),
        )
        assert parent.stdout is not None
        server = int(await parent.stdout.readline())
        # It must have looked at its parent before that goes away.
        await until(lambda: is_listening(server))
        os.write(writing, b"x")
        await parent.wait()
        await until(lambda: not Path(f"/proc/{server}").exists())
    finally:
        for fd in (reading, writing, holding, input_end):
            os.close(fd)


def is_listening(pid: int) -> bool:
    """Has it an event loop by now?"""
    fds = Path(f"/proc/{pid}/fd")
    try:
        return any("eventpoll" in os.readlink(fd) for fd in fds.iterdir())
    except OSError:
        return False
