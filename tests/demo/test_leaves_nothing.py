"""A thousand calls, a third cancelled, a third timed out, then SIGKILL: nothing is left."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.peers.raw import StdioClient, over_stdio
from tests.peers.serving import toolyard
from tests.until import until

pytestmark = pytest.mark.long

CALLS = 1000
AT_ONCE = 16
TOOL = """#!/usr/bin/env bash
case "$MCP_TOOL_ARGS_JSON" in
  *hang*) echo '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"'\
"$MCP_PROGRESS_TOKEN"'","progress":1}}' >>"$MCP_PROGRESS_STREAM"; sleep 60 & sleep 60 ;;
  *slow*) sleep 60 & sleep 60 ;;
  *) echo done ;;
esac
"""


def project(folder: Path) -> Path:
    tool = folder / "yard" / "tools" / "work" / "tool.sh"
    tool.parent.mkdir(parents=True)
    tool.write_text(TOOL)
    tool.chmod(0o755)
    (tool.parent / "tool.meta.json").write_text(json.dumps({"name": "work"}))
    return folder / "yard"


async def cancelled(client: StdioClient, number: int) -> None:
    params = {
        "name": "work",
        "arguments": {"how": "hang"},
        "_meta": {"progressToken": f"p{number}"},
    }
    future = await client.begin(client.message("tools/call", params, id=f"c{number}"))
    await until(lambda: f"p{number}" in tokens_seen(client))
    await client.notify("notifications/cancelled", {"requestId": f"c{number}"})
    future.cancel()


def tokens_seen(client: StdioClient) -> set[str]:
    return {message["params"].get("progressToken") for message in client.notifications}


async def one(client: StdioClient, number: int) -> None:
    if number % 3 == 0:
        await cancelled(client, number)
        return
    how = "slow" if number % 3 == 1 else "quick"
    params: dict[str, Any] = {"name": "work", "arguments": {"how": how}}
    if how == "slow":
        params["timeoutSecs"] = 0.2
    result = await client.result("tools/call", params, id=f"c{number}", within=60)
    assert result["isError"] is (how == "slow"), result


async def test_a_thousand_calls_leave_nothing(tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    env = {"TMPDIR": str(scratch), "MARK": "yes", "MCPBASH_MARK": str(tmp_path)}
    options: dict[str, Any] = {"env": env, "checked": False}
    async with over_stdio(toolyard("serve", project(tmp_path)), "2025-11-25", **options) as client:
        await client.call("work", {"how": "quick"})
        pid = client.running.process.pid
        descriptors = len(os.listdir(f"/proc/{pid}/fd"))
        gate = asyncio.Semaphore(AT_ONCE)

        async def gated(number: int) -> None:
            async with gate:
                await one(client, number)

        await asyncio.gather(*(gated(number) for number in range(CALLS)))
        await client.call("work", {"how": "quick"})
        await until(lambda: len(os.listdir(f"/proc/{pid}/fd")) <= descriptors + AT_ONCE * 2)
        for _ in range(4):
            await client.begin(
                client.message("tools/call", {"name": "work", "arguments": {"how": "slow"}})
            )
        await until(lambda: len(marked(tmp_path)) >= 4)
        os.kill(pid, signal.SIGKILL)
        await until(lambda: not marked(tmp_path))
        await until(lambda: not list(scratch.iterdir()))


def marked(folder: Path) -> list[int]:
    """Live processes that a script of this project started or is."""
    mark = f"MCPBASH_MARK={folder}".encode()
    found = []
    for entry in Path("/proc").iterdir():
        try:
            environ = (entry / "environ").read_bytes() if entry.name.isdecimal() else b""
            command = (entry / "cmdline").read_bytes() if environ else b""
        except OSError:
            continue
        if mark in environ.split(b"\0") and b"toolyard" not in command:
            found.append(int(entry.name))
    return found
