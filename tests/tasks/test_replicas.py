"""Tasks among replicas that share a store: any of them answers for a task that another one runs."""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.cluster.yard import KEY, replica
from tests.hooks.yard import Yard
from tests.peers.raw_http import HttpClient, over_http
from tests.peers.redis import RedisServer, needs_redis, redis_server
from tests.peers.serving import Listening
from tests.tasks.knowing import ABLE, begun, outcome, reaches
from tests.tasks.test_bounds import ANN, BOB, as_caller, with_callers
from tests.tasks.test_commands import ran
from tests.tasks.test_killed import COUNTS, DIED
from tests.tasks.test_through_gateway import upstream
from tests.until import until
from tests.web.gateway import opened
from toolyard.tasks.identifiers import new_id
from toolyard.web.routes.tasks import AWAY

pytestmark = needs_redis
MODERN, CORE = "2026-07-28", "2025-11-25"
RELATED = "io.modelcontextprotocol/related-task"


class Two(NamedTuple):
    owner: Listening
    other: Listening
    redis: RedisServer


@asynccontextmanager
async def two(place: Path, state: dict[str, str]) -> AsyncIterator[Two]:
    with redis_server() as redis:
        async with (
            replica(place, redis, env=state) as owner,
            replica(place, redis, env=state) as other,
        ):
            yield Two(owner, other, redis)


@asynccontextmanager
async def clients(both: Two) -> AsyncIterator[tuple[HttpClient, HttpClient]]:
    async with (
        over_http(both.owner.url, MODERN, capabilities=ABLE) as here,
        over_http(both.other.url, MODERN, capabilities=ABLE) as there,
    ):
        yield here, there


def lives(pids: Path) -> bool:
    return any(Path(f"/proc/{pid}").exists() for pid in pids.read_text().split())


async def test_a_task_is_got_fed_and_cancelled_through_another_replica(
    yard: Yard, state: dict[str, str]
) -> None:
    async with two(yard.root, state) as both, clients(both) as (here, there):
        task = (await begun(here, "job"))["taskId"]
        result = await outcome(there, task)
        assert result["content"][0]["text"].strip() == f"run {task}"

        task = (await begun(here, "asks"))["taskId"]
        (key,) = (await reaches(there, task, "input_required"))["inputRequests"]
        answer = {"action": "accept", "content": {"name": "Ada"}}
        await there.result("tasks/update", {"taskId": task, "inputResponses": {key: answer}})
        assert (await outcome(there, task))["content"][0]["text"].strip() == "Ada"

        task = (await begun(here, "long"))["taskId"]
        pids = yard.root / "pids"
        await until(pids.exists)
        await there.result("tasks/cancel", {"taskId": task})
        assert (await reaches(there, task, "cancelled"))["taskId"] == task
        await until(lambda: not lives(pids))
    assert not list(Path(state["XDG_STATE_HOME"]).rglob("tasks.db"))


@asynccontextmanager
async def two_sessions(
    both: Two, answers: dict[str, Any]
) -> AsyncIterator[tuple[HttpClient, HttpClient]]:
    """Of one caller, in two processes; the second one answers."""
    able: dict[str, Any] = {"elicitation": {}}
    async with (
        over_http(both.owner.url, CORE, capabilities=able) as here,
        over_http(both.other.url, CORE, capabilities=able, answers=answers) as there,
    ):
        yield here, there


async def test_a_session_elsewhere_that_waits_for_the_result_is_asked_the_tasks_questions(
    yard: Yard, state: dict[str, str]
) -> None:
    names = iter((7, "Ada"))

    def answer(_params: Any) -> Any:
        return {"action": "accept", "content": {"name": next(names)}}

    answers = {"elicitation/create": answer}
    async with (
        two(yard.root, state) as both,
        two_sessions(both, answers) as (here, there),
    ):
        task = (await begun(here, "asks", task={}))["taskId"]
        result = await there.result("tasks/result", {"taskId": task})
        assert result["content"][0]["text"].strip() == "Ada"
        assert len(there.questions) == 2  # the first answer was no name
        for question in there.questions:
            assert question["params"]["_meta"][RELATED] == {"taskId": task}
        assert here.questions == []
        assert (await here.result("tasks/result", {"taskId": task}))["content"]


async def test_an_error_in_place_of_an_answer_reaches_the_script_from_elsewhere(
    yard: Yard, state: dict[str, str]
) -> None:
    async with two(yard.root, state) as both, two_sessions(both, {}) as (here, there):
        task = (await begun(here, "asks", task={}))["taskId"]
        result = await there.result("tasks/result", {"taskId": task})
        here_too = (await begun(here, "asks", task={}))["taskId"]
        at_home = await here.result("tasks/result", {"taskId": here_too})
        assert result["content"] == at_home["content"]
        assert result.get("isError") == at_home.get("isError")


async def test_callers_are_held_apart_and_bounded_over_all_replicas(
    yard: Yard, state: dict[str, str]
) -> None:
    with_callers(yard, maxTasks=2)
    async with two(yard.root, state) as both:
        async with as_caller(both.owner, ANN, CORE) as here:
            task = (await begun(here, "job", task={}))["taskId"]
            async with as_caller(both.other, ANN, CORE) as there:
                result = await there.result("tasks/result", {"taskId": task})
                assert result["content"][0]["text"].strip() == f"run {task}"
                for client in (here, there):
                    await begun(client, "long", task={})
                error = await here.error("tools/call", {"name": "long", "task": {}})
                assert "2 tasks are running already" in error["message"]
                lists = [(await client.result("tasks/list"))["tasks"] for client in (here, there)]
                assert len(lists[0]) == 3
                assert [entry["taskId"] for entry in lists[0]] == [
                    entry["taskId"] for entry in lists[1]
                ]
        async with as_caller(both.other, BOB, CORE) as bob:
            assert (await bob.result("tasks/list"))["tasks"] == []
            for method in ("tasks/get", "tasks/result", "tasks/cancel"):
                assert (await bob.error(method, {"taskId": task}))["code"] == -32602


async def test_the_tasks_of_a_replica_that_was_killed_have_failed_and_ran_once(
    yard: Yard, state: dict[str, str]
) -> None:
    yard.tool("counts", COUNTS, taskSupport="optional")
    starts = yard.root / "starts"
    async with two(yard.root, state) as both, clients(both) as (here, there):
        kept = (await begun(here, "job"))["taskId"]
        await outcome(here, kept)
        tasks = [(await begun(here, "counts"))["taskId"] for _ in range(5)]
        await until(lambda: starts.exists() and len(starts.read_text().split()) == 5)
        assert (await reaches(there, tasks[0], "working"))["taskId"] == tasks[0]
        both.owner.process.kill()
        for task in tasks:
            assert (await reaches(there, task, "failed"))["error"]["message"] == DIED
        assert (await reaches(there, kept, "completed"))["taskId"] == kept
    assert sorted(starts.read_text().split()) == sorted(tasks)


async def test_a_task_at_an_upstream_goes_on_at_another_replica_when_its_own_was_killed(
    server: Listening, yard: Yard, tmp_path: Path
) -> None:
    registry = tmp_path / "registry.json"
    registry.write_text(json.dumps({"servers": [upstream(server)]}))
    state = {"XDG_STATE_HOME": str(tmp_path / "gate")}
    async with two(registry, state) as both, clients(both) as (here, there):
        task = (await begun(here, "reports"))["taskId"]
        assert (await reaches(there, task, "working"))["taskId"] == task
        both.owner.process.kill()
        await both.owner.process.wait()
        yard.write("go", "")
        result = await outcome(there, task)
        assert result["content"][0]["text"].strip() == "done"


@pytest.mark.long
async def test_a_replica_that_was_away_ends_what_was_given_up_meanwhile(
    yard: Yard, state: dict[str, str]
) -> None:
    async with two(yard.root, state) as both, clients(both) as (here, there):
        task = (await begun(here, "long"))["taskId"]
        pids = yard.root / "pids"
        await until(pids.exists)
        both.owner.process.send_signal(signal.SIGSTOP)
        try:
            assert (await reaches(there, task, "failed"))["error"]["message"] == DIED
            assert lives(pids)
        finally:
            both.owner.process.send_signal(signal.SIGCONT)
        await until(lambda: not lives(pids))
        for client in (here, there):
            assert (await reaches(client, task, "failed"))["error"]["message"] == DIED


async def test_tasks_go_on_while_the_store_is_away_and_are_written_again_when_it_is_back(
    yard: Yard, state: dict[str, str]
) -> None:
    async with two(yard.root, state) as both, clients(both) as (here, there):
        task = (await begun(here, "long"))["taskId"]
        await reaches(there, task, "working")
        reports = (await begun(here, "reports"))["taskId"]
        both.redis.kill()
        forged = {"taskId": new_id(b"another key".ljust(32), "local")}
        assert (await there.error("tasks/get", forged))["code"] == -32602
        error = await there.error("tasks/get", {"taskId": task})
        assert "cannot be reached at the moment" in error["message"]
        result = await here.result("tools/call", {"name": "job", "arguments": {}})
        assert "was not begun" in result["content"][0]["text"]
        assert (await reaches(here, task, "working"))["taskId"] == task
        (yard.root / "go").touch()
        assert (await outcome(here, reports))["content"][0]["text"].strip() == "done"
        both.redis.start()  # with nothing in it
        for name, status in ((task, "working"), (reports, "completed")):
            await until_shown(there, name, status)


async def test_who_listens_elsewhere_hears_the_end_of_a_task_after_the_store_was_away(
    yard: Yard, state: dict[str, str]
) -> None:
    async with two(yard.root, state) as both, clients(both) as (here, there):
        task = (await begun(here, "reports"))["taskId"]
        assert await there.subscribe(taskIds=[task]) == {"taskIds": [task]}
        assert (await there.notification("notifications/tasks"))["params"]["status"] == "working"
        both.redis.kill()
        error = await there.error("tasks/get", {"taskId": task})
        assert "cannot be reached at the moment" in error["message"]
        refusal = await here.result("tools/call", {"name": "job", "arguments": {}})
        assert "was not begun" in refusal["content"][0]["text"]
        both.redis.start()  # with nothing in it
        (yard.root / "go").touch()
        states = [""]
        while states[-1] != "completed":
            states.append((await there.notification("notifications/tasks"))["params"]["status"])


async def test_the_page_says_that_the_store_is_away_and_shows_the_tasks_again_later(
    yard: Yard, state: dict[str, str]
) -> None:
    env = {**state, "TOOLYARD_CLUSTER_KEY": KEY}
    with redis_server() as redis:
        async with (
            opened("--store", redis.url, project=yard.root, env=env) as page,
            over_http(page.server.url, MODERN, capabilities=ABLE) as client,
        ):
            task = (await begun(client, "reports"))["taskId"]
            redis.kill()
            status, answer = await page.api.send("GET", "tasks")
            assert (status, answer["error"]) == (503, AWAY)
            assert (await page.api.get(f"tasks/{task}"))["status"] == "working"
            (yard.root / "go").touch()
            await outcome(client, task)
            redis.start()
            async with asyncio.timeout(20):
                while (await page.api.send("GET", "tasks"))[1].get("tasks") in (None, []):
                    await asyncio.sleep(0.05)
            (line,) = (await page.api.get("tasks"))["tasks"]
            assert (line["id"], line["status"]) == (task, "completed")


async def test_an_outcome_that_could_not_be_written_is_written_when_the_store_is_back(
    yard: Yard, state: dict[str, str]
) -> None:
    async with two(yard.root, state) as both, clients(both) as (here, there):
        task = (await begun(here, "reports"))["taskId"]
        await reaches(there, task, "working")
        both.redis.pause()  # for less than a lease, and nothing is lost
        (yard.root / "go").touch()
        await outcome(here, task)
        refusal = await here.result("tools/call", {"name": "job", "arguments": {}})
        assert "was not begun" in refusal["content"][0]["text"]
        both.redis.go_on()
        await until_shown(there, task, "completed")


async def until_shown(client: HttpClient, task: str, status: str) -> None:
    async with asyncio.timeout(20):
        while status not in str(await client.request("tasks/get", {"taskId": task})):
            await asyncio.sleep(0.05)


async def test_the_operator_sees_and_ends_the_tasks_of_all_replicas(
    yard: Yard, state: dict[str, str]
) -> None:
    async with two(yard.root, state) as both, clients(both) as (here, there):
        tasks = {(await begun(client, "long"))["taskId"] for client in (here, there)}
        shared = {
            **state,
            "TOOLYARD_STORE": both.redis.url,
            "TOOLYARD_CLUSTER_KEY": KEY,
        }
        code, out, err = await ran(yard, shared, "tasks", "list", "--json")
        assert code == 0, err
        assert all(task in out for task in tasks)
        for task in tasks:
            code, out, err = await ran(yard, shared, "tasks", "cancel", task)
            assert (code, "cancelled by the operator" in out) == (0, True), err
