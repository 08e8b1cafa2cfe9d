"""A server that dies with tasks running, and thousands that are over: nothing lost, none twice."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.hooks.yard import Yard
from tests.peers.raw import RawClient
from tests.peers.raw_http import over_http
from tests.peers.serving import serving
from tests.tasks.knowing import DECLARED, begun, outcome
from tests.until import until

MODERN = "2026-07-28"
DIED = "The server that ran this task was stopped or died; the task was not run again"
COUNTS = """
echo $MCP_TASK_ID >> "$MCPBASH_PROJECT_ROOT/starts"
echo $$ >> "$MCPBASH_PROJECT_ROOT/pids"
sleep 300
"""


async def test_after_a_kill_every_task_is_accounted_for_and_none_ran_twice(
    yard: Yard, state: dict[str, str]
) -> None:
    yard.tool("counts", COUNTS, taskSupport="optional")
    starts = yard.root / "starts"
    async with serving(yard.root, env=state) as server:
        async with over_http(server.url, MODERN, capabilities=DECLARED) as client:
            over = await begun(client, "job")
            await outcome(client, over["taskId"])
            tasks = [(await begun(client, "counts"))["taskId"] for _ in range(50)]
            await until(lambda: starts.exists() and len(starts.read_text().split()) == 50)
        server.process.kill()
        await server.process.wait()
    pids = [int(pid) for pid in (yard.root / "pids").read_text().split()]
    await until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in pids))
    async with (
        serving(yard.root, env=state) as server,
        over_http(server.url, MODERN, capabilities=DECLARED) as client,
    ):
        for task_id in tasks:
            seen = await client.result("tasks/get", {"taskId": task_id})
            assert (seen["status"], seen["error"]["message"]) == ("failed", DIED)
        kept = await client.result("tasks/get", {"taskId": over["taskId"]})
        assert kept["status"] == "completed"
    assert sorted(starts.read_text().split()) == sorted(tasks)


@pytest.mark.long
async def test_a_thousand_tasks_leave_bounded_files_and_no_memory_behind(
    yard: Yard, state: dict[str, str]
) -> None:
    """Each is kept for four seconds: what is older is forgotten while others run."""
    yard.write("toolyard.json", {"taskTimeout": 1, "taskKeep": 3})
    async with (
        serving(yard.root, env=state) as server,
        over_http(server.url, MODERN, capabilities=DECLARED) as client,
    ):
        sizes, memory = [], []
        for _ in range(10):
            for _ in range(5):
                await asyncio.gather(*(run(client) for _ in range(20)))
            sizes.append(size_of(Path(state["XDG_STATE_HOME"])))
            memory.append(resident(server.process.pid))
    assert max(sizes[5:]) < 2 * max(sizes[:5])
    assert max(memory[5:]) < 1.1 * max(memory[:5]), memory


async def run(client: RawClient) -> None:
    await outcome(client, (await begun(client, "job"))["taskId"])


def size_of(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def resident(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1])
