"""toolyard tasks, and run-tool --task: what operators see and do."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

from tests.hooks.yard import Yard
from tests.peers.raw_http import over_http
from tests.peers.serving import environment, serving, toolyard
from tests.tasks.knowing import DECLARED, begun, outcome
from tests.until import until

MODERN = "2026-07-28"


async def ran(yard: Yard, state: dict[str, str], *arguments: str) -> tuple[int, str, str]:
    process = await asyncio.create_subprocess_exec(
        *toolyard(*arguments),
        cwd=yard.root,
        env=environment(state),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await process.communicate()
    assert process.returncode is not None
    return process.returncode, out.decode(), err.decode()


async def test_the_operator_sees_and_ends_the_tasks_of_a_running_server(
    yard: Yard, state: dict[str, str]
) -> None:
    async with (
        serving(yard.root, env=state) as server,
        over_http(server.url, MODERN, capabilities=DECLARED) as client,
    ):
        over = await begun(client, "job")
        await outcome(client, over["taskId"])
        task = (await begun(client, "long"))["taskId"]
        pids = yard.root / "pids"
        await until(lambda: pids.exists() and pids.read_text().strip())
        _, listed, _ = await ran(yard, state, "tasks", "list", "--json")
        assert {row["taskId"]: row["status"] for row in json.loads(listed)} == {
            task: "working",
            over["taskId"]: "completed",
        }
        _, running, _ = await ran(yard, state, "tasks", "list", "--running")
        assert task[:12] in running
        assert over["taskId"][:12] not in running
        waiting = asyncio.ensure_future(ran(yard, state, "tasks", "wait", task))
        code, shown, _ = await ran(yard, state, "tasks", "cancel", task[:12])
        assert (code, shown.split("\n")[0]) == (0, "long: cancelled (cancelled by the operator)")
        assert (await waiting)[0] == 1
        pid = int(pids.read_text())
        await until(lambda: not Path(f"/proc/{pid}").exists())
        code, shown, _ = await ran(yard, state, "tasks", "show", over["taskId"])
        assert (code, "run " + over["taskId"] in shown) == (0, True)
        assert (await ran(yard, state, "tasks", "wait", over["taskId"]))[0] == 0


async def test_a_task_that_is_not_there_is_named_and_no_server_is_needed(
    yard: Yard, state: dict[str, str]
) -> None:
    assert await ran(yard, state, "tasks", "list") == (0, "No tasks.\n", "")
    code, _, said = await ran(yard, state, "tasks", "show", "x")
    assert (code, "no task named 'x'" in said) == (2, True)


async def test_run_tool_follows_a_task_to_its_end(yard: Yard, state: dict[str, str]) -> None:
    code, out, _ = await ran(yard, state, "run-tool", "job", "--task", "--json")
    (row,) = json.loads((await ran(yard, state, "tasks", "list", "--json"))[1])
    assert (code, json.loads(out)["content"][0]["text"].strip()) == (0, f"run {row['taskId']}")
    code, out, _ = await ran(yard, state, "run-tool", "plain", "--task", "--json")
    assert (code, "does not run as a task" in out) == (1, True)
    code, out, _ = await ran(yard, state, "run-tool", "only", "--json")
    assert (code, json.loads(out)["content"][0]["text"].strip()) == (0, "only")
