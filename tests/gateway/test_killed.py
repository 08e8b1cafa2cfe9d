"""Whoever of us is killed takes its upstreams along, whatever they care about."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.program import toolyard
from tests.gateway.yard import Yard
from tests.peers.raw import MODERN
from tests.peers.raw_http import over_http
from tests.peers.serving import environment, serving
from tests.processes import alive
from tests.until import until, until_dead, until_exists

pytestmark = pytest.mark.long

# Deaf to signals and to the end of its input, and so is its child; another one is in no group
# of ours, and knows nothing of our environment.
DEAF = r"""
import json, os, signal, subprocess, sys, time
for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGPIPE):
    signal.signal(number, signal.SIG_IGN)
folder, greets = sys.argv[1:]
sleeper = [sys.executable, "-S", "-c", "import time; time.sleep(600)"]
nowhere = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
child = subprocess.Popen(sleeper, **nowhere)
escaped = subprocess.Popen(sleeper, **nowhere, env={}, start_new_session=True)
def note(name, pid):
    with open(f"{folder}/{name}.new", "w") as file:
        file.write(str(pid))
    os.replace(f"{folder}/{name}.new", f"{folder}/{name}")
note("child", child.pid)
note("escaped", escaped.pid)
note("leader", os.getpid())
for line in sys.stdin if greets == "yes" else ():
    m = json.loads(line)
    r = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {}}
    if m.get("method") == "tools/list":
        r = {"tools": [{"name": "t", "inputSchema": {"type": "object"}}]}
    if m.get("method") == "tools/call":
        r = {"content": []}
    if m.get("method") == "server/discover":
        e = {"code": -32601, "message": "no"}
        print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "error": e}), flush=True)
    elif "id" in m:
        print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "result": r}), flush=True)
time.sleep(600)
"""


def deaf(yard: Yard, *, greets: bool) -> Any:
    args = ["-S", "-c", DEAF, str(yard.root), "yes" if greets else "no"]
    return {"name": "deaf", "stdio": {"command": sys.executable, "args": args}, "expose": "all"}


@pytest.fixture
def scratch(yard: Yard) -> Path:
    folder = yard.root / "scratch"
    folder.mkdir()
    return folder


async def killed(process: asyncio.subprocess.Process, yard: Yard, scratch: Path) -> None:
    """Kill us while all run; all end, and the run folder with them."""
    names = ("leader", "child", "escaped")
    pids = [int(await until_exists(yard.root / name)) for name in names]
    await until(lambda: str(pids[0]) in groups_in(scratch))
    assert all(map(alive, pids))
    process.kill()
    await process.wait()
    for pid in pids:
        await until_dead(pid)
    await until(lambda: not list(scratch.iterdir()))


def groups_in(scratch: Path) -> list[str]:
    """What the watcher would end; there is never more than one."""
    folders = list(scratch.iterdir())
    assert len(folders) <= 1
    tables = [folder / "groups" for folder in folders]
    return [group for table in tables if table.exists() for group in table.read_text().split()]


@pytest.mark.parametrize("greets", [True, False], ids=["in use", "still starting"])
async def test_a_killed_gateway_leaves_no_upstream_and_no_child_of_one(
    yard: Yard, scratch: Path, greets: bool
) -> None:
    yard.registry(servers=[deaf(yard, greets=greets)])
    async with (
        serving(yard.file, env={"TMPDIR": str(scratch)}) as server,
        over_http(server.url, MODERN) as client,
    ):
        calling = asyncio.create_task(client.call("t"))
        if greets:
            assert await calling
        await killed(server.process, yard, scratch)
        await asyncio.gather(calling, return_exceptions=True)


async def test_scripts_and_upstreams_have_one_watcher(yard: Yard, scratch: Path) -> None:
    yard.script("stay", 'echo "$$" > "$MCPBASH_PROJECT_ROOT/script"; sleep 600')
    yard.registry(servers=[deaf(yard, greets=True)])
    async with (
        serving(yard.root, env={"TMPDIR": str(scratch)}) as server,
        over_http(server.url, MODERN) as client,
    ):
        await client.call("t")
        calling = asyncio.create_task(client.call("stay"))
        script = int(await until_exists(yard.root / "script"))
        assert len(groups_in(scratch)) == 2
        await killed(server.process, yard, scratch)
        await until_dead(script)
        await asyncio.gather(calling, return_exceptions=True)


@pytest.mark.parametrize("words", [["inspect", "deaf"], ["call", "deaf", "t"]], ids=" ".join)
async def test_a_killed_command_leaves_no_upstream_and_no_child_of_one(
    yard: Yard, scratch: Path, words: list[str]
) -> None:
    yard.registry(servers=[deaf(yard, greets=False)])
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "toolyard", *words),
        cwd=yard.root,
        env=environment({"TMPDIR": str(scratch)}),
    )
    try:
        await killed(process, yard, scratch)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


@pytest.mark.parametrize("words", [["inspect", "u"], ["call", "u", "t"]], ids=" ".join)
def test_a_command_that_ends_by_itself_leaves_no_run_folder(
    yard: Yard, scratch: Path, words: list[str]
) -> None:
    yard.registry(servers=[yard.upstream("u", {"name": "t", "inputSchema": {}})])
    assert toolyard(*words, cwd=yard.root, env={"TMPDIR": str(scratch)}).code == 0
    assert list(scratch.iterdir()) == []


async def test_a_gateway_that_ends_by_itself_leaves_no_run_folder(
    yard: Yard, scratch: Path
) -> None:
    yard.registry(servers=[yard.upstream("u", {"name": "t", "inputSchema": {}}, expose="all")])
    async with serving(yard.file, env={"TMPDIR": str(scratch)}) as server:
        async with over_http(server.url, MODERN) as client:
            await client.call("t")
        assert len(groups_in(scratch)) == 1
        server.process.terminate()
        assert await server.process.wait() == 0
    assert list(scratch.iterdir()) == []
