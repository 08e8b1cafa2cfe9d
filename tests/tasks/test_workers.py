"""Tasks among workers: any of them answers for a task that another one runs."""

from __future__ import annotations

from pathlib import Path

from tests.hooks.yard import Yard
from tests.peers.raw_http import over_http
from tests.tasks.knowing import ABLE, begun, outcome, reaches
from tests.until import until
from tests.workers.doors import in_turn
from tests.workers.yard import crewed


async def test_any_worker_shows_feeds_and_ends_the_task_of_another(
    yard: Yard, state: dict[str, str]
) -> None:
    async with (
        crewed(yard.root, env=state) as server,
        in_turn(server) as url,
        over_http(url, "2026-07-28", capabilities=ABLE) as client,
    ):
        for number in range(4):
            task = (await begun(client, "asks"))["taskId"]
            (key,) = (await reaches(client, task, "input_required"))["inputRequests"]
            answer = {"action": "accept", "content": {"name": f"Ada {number}"}}
            update = {"taskId": task, "inputResponses": {key: answer}}
            await client.result("tasks/update", update)
            result = await outcome(client, task)
            assert result["content"][0]["text"].strip() == f"Ada {number}"
        for _ in range(4):
            task = (await begun(client, "long"))["taskId"]
            await client.result("tasks/cancel", {"taskId": task})
            assert (await reaches(client, task, "cancelled"))["taskId"] == task
        pids = yard.root / "pids"
        await until(
            lambda: (
                not any(Path(f"/proc/{pid}").exists() for pid in pids.read_text().split())
                if pids.exists()
                else True
            )
        )
