"""Tasks among workers: any of them answers for a task that another one runs."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.hooks.yard import Yard
from tests.peers.raw_http import HttpClient, over_http
from tests.peers.serving import Listening, serving
from tests.tasks.knowing import ABLE, begun, outcome, reaches
from tests.tasks.test_through_gateway import upstream
from tests.until import until
from tests.workers.doors import doors, in_turn
from tests.workers.yard import crewed

MODERN, CORE = "2026-07-28", "2025-11-25"
ANSWER = {"action": "accept", "content": {"name": "Ada"}}


async def test_any_worker_shows_feeds_and_ends_the_task_of_another(
    yard: Yard, state: dict[str, str]
) -> None:
    async with (
        crewed(yard.root, env=state) as server,
        in_turn(server) as url,
        over_http(url, MODERN, capabilities=ABLE) as client,
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


async def test_a_session_of_another_worker_is_asked_the_questions_of_the_task_it_waits_for(
    yard: Yard, state: dict[str, str]
) -> None:
    able: dict[str, Any] = {"elicitation": {}}
    answers = {"elicitation/create": ANSWER}
    async with crewed(yard.root, env=state) as server, doors(server) as urls:
        one, other = urls.values()
        async with (
            over_http(one, CORE, capabilities=able) as here,
            over_http(other, CORE, capabilities=able, answers=answers) as there,
        ):
            task = (await begun(here, "asks", task={}))["taskId"]
            result = await there.result("tasks/result", {"taskId": task})
            assert result["content"][0]["text"].strip() == "Ada"
            assert (here.questions, len(there.questions)) == ([], 1)


@pytest.fixture
def registry(server: Listening, tmp_path: Path) -> Path:
    """A gateway before a server over HTTP, whose tools run as tasks."""
    path = tmp_path / "registry.json"
    path.write_text(json.dumps({"servers": [upstream(server)]}))
    return path


def state_of(registry: Path) -> dict[str, str]:
    return {"XDG_STATE_HOME": str(registry.parent / "gate")}


class Crew(NamedTuple):
    """Two workers of a gateway: the process of one, and a client of each."""

    owner: int
    here: HttpClient
    there: HttpClient


@asynccontextmanager
async def crew(registry: Path) -> AsyncIterator[Crew]:
    async with crewed(registry, env=state_of(registry)) as server, doors(server) as urls:
        (owner, here), (_, there) = urls.items()
        async with client_of(here) as one, client_of(there) as other:
            yield Crew(owner, one, other)


@asynccontextmanager
async def client_of(url: str) -> AsyncIterator[HttpClient]:
    async with over_http(url, MODERN, capabilities=ABLE) as client:
        yield client


async def test_a_task_at_a_server_is_got_fed_and_cancelled_through_another_worker(
    registry: Path, yard: Yard
) -> None:
    async with crew(registry) as (_, here, there):
        task = (await begun(here, "asks"))["taskId"]
        (key,) = (await reaches(there, task, "input_required"))["inputRequests"]
        update = {"taskId": task, "inputResponses": {key: ANSWER}}
        await there.result("tasks/update", update)
        for client in (there, here):
            assert (await outcome(client, task))["content"][0]["text"].strip() == "Ada"
        task = (await begun(here, "long"))["taskId"]
        pids = yard.root / "pids"
        await until(lambda: pids.exists() and pids.read_text().strip())
        await there.result("tasks/cancel", {"taskId": task})
        for client in (there, here):
            assert (await reaches(client, task, "cancelled"))["taskId"] == task
        await until(lambda: not Path(f"/proc/{pids.read_text().strip()}").exists())


async def test_who_follows_a_task_at_a_server_hears_its_end_though_its_worker_was_killed(
    registry: Path, yard: Yard
) -> None:
    async with crew(registry) as (owner, here, there):
        task = (await begun(here, "reports"))["taskId"]
        assert await there.subscribe(taskIds=[task]) == {"taskIds": [task]}
        await there.notification("notifications/tasks")
        os.kill(owner, signal.SIGKILL)
        yard.write("go", "")
        status = ""
        while status != "completed":
            news = (await there.notification("notifications/tasks"))["params"]
            status = news["status"]
        assert news["result"]["content"][0]["text"].strip() == "done"


async def test_a_task_at_a_server_goes_on_asking_and_ends_after_the_gateway_was_killed(
    registry: Path, yard: Yard
) -> None:
    async with serving(registry, env=state_of(registry)) as gate:
        async with client_of(gate.url) as client:
            asks = (await begun(client, "asks"))["taskId"]
            await reaches(client, asks, "input_required")
            reports = (await begun(client, "reports"))["taskId"]
            stopped = (await begun(client, "long"))["taskId"]
        pids = yard.root / "pids"
        await until(lambda: pids.exists() and pids.read_text().strip())
        gate.process.kill()
        await gate.process.wait()
    async with (
        serving(registry, env=state_of(registry)) as gate,
        client_of(gate.url) as client,
    ):
        waiting = asyncio.ensure_future(outcome(client, reports))
        (key,) = (await reaches(client, asks, "input_required"))["inputRequests"]
        update = {"taskId": asks, "inputResponses": {key: ANSWER}}
        await client.result("tasks/update", update)
        assert (await outcome(client, asks))["content"][0]["text"].strip() == "Ada"
        await client.result("tasks/cancel", {"taskId": stopped})
        await until(lambda: not Path(f"/proc/{pids.read_text().strip()}").exists())
        yard.write("go", "")
        assert (await waiting)["content"][0]["text"].strip() == "done"
