"""Whose a task is, how many there may be, and how long: what callers cannot get around."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from tests.hooks.yard import Yard
from tests.peers.raw_http import HttpClient, over_http
from tests.peers.serving import Listening, serving
from tests.tasks.knowing import DECLARED, begun, outcome, reaches
from toolyard.access.tokens import hash_of
from toolyard.tasks.identifiers import belongs, new_id

MODERN, CORE = "2026-07-28", "2025-11-25"
ANN, BOB = "a" * 40, "b" * 40


def with_callers(yard: Yard, **settings: Any) -> None:
    callers = (("ann", ANN), ("bob", BOB))
    tokens = [{"name": name, "hash": hash_of(token)} for name, token in callers]
    yard.write("toolyard.json", {"tokens": tokens, **settings})


@asynccontextmanager
async def as_caller(server: Listening, token: str, revision: str) -> AsyncIterator[HttpClient]:
    bearer = {"Authorization": f"Bearer {token}"}
    capabilities = DECLARED if revision == MODERN else {}
    async with over_http(server.url, revision, capabilities=capabilities, headers=bearer) as client:
        yield client


@asynccontextmanager
async def knowing_client(yard: Yard, state: dict[str, str]) -> AsyncIterator[HttpClient]:
    async with (
        serving(yard.root, env=state) as server,
        over_http(server.url, MODERN, capabilities=DECLARED) as client,
    ):
        yield client


def test_an_id_is_good_for_its_caller_alone() -> None:
    key = bytes(32)
    assert not any(new_id(key, "ann").startswith("-") for _ in range(1000))
    task = new_id(key, "ann")
    other = bytes(31) + b"1"
    assert belongs([key], task, "ann")
    assert belongs([other, key], task, "ann")
    assert not belongs([key, other], task, "bob")
    assert not belongs([other], task, "ann")
    for forged in ("", "x", task[:-1], task + "A", task.swapcase(), "é" * 44, "\ud800"):
        assert not belongs([key], forged, "ann")


async def test_nobody_else_gets_feeds_cancels_lists_or_hears_of_a_task(
    yard: Yard, state: dict[str, str]
) -> None:
    with_callers(yard)
    async with serving(yard.root, env=state) as server:
        async with as_caller(server, ANN, MODERN) as ann, as_caller(server, BOB, MODERN) as bob:
            task = await begun(ann, "long")
            for method in ("tasks/get", "tasks/update", "tasks/cancel"):
                params = {"taskId": task["taskId"], "inputResponses": {}}
                assert (await bob.error(method, params))["code"] == -32602
            filters = {"notifications": {"taskIds": [task["taskId"]]}}
            asyncio.ensure_future(bob.request("subscriptions/listen", filters)).cancel()
            assert (await reaches(ann, task["taskId"], "working"))["taskId"] == task["taskId"]
        async with as_caller(server, ANN, CORE) as ann, as_caller(server, BOB, CORE) as bob:
            assert ann.server["capabilities"]["tasks"]["list"] == {}
            (listed,) = (await ann.result("tasks/list"))["tasks"]
            assert (listed["taskId"], listed["status"]) == (task["taskId"], "working")
            assert (await bob.result("tasks/list"))["tasks"] == []
            assert (await ann.error("tasks/list", {"cursor": "x"}))["code"] == -32602
            for method in ("tasks/get", "tasks/result", "tasks/cancel"):
                assert (await bob.error(method, {"taskId": task["taskId"]}))["code"] == -32602
            assert (await ann.result("tasks/cancel", {"taskId": task["taskId"]}))["status"] == (
                "cancelled"
            )


async def test_a_list_says_of_a_tool_that_failed_what_a_look_at_its_task_says(
    yard: Yard, state: dict[str, str]
) -> None:
    with_callers(yard)
    async with serving(yard.root, env=state) as server:
        async with as_caller(server, ANN, MODERN) as ann:
            task = await begun(ann, "fails")
            await reaches(ann, task["taskId"], "completed")
        async with as_caller(server, ANN, CORE) as ann:
            (listed,) = (await ann.result("tasks/list"))["tasks"]
            seen = await ann.result("tasks/get", {"taskId": task["taskId"]})
    assert (listed["status"], seen["status"]) == ("failed", "failed")


async def test_forged_foreign_and_expired_ids_are_refused_alike(
    yard: Yard, state: dict[str, str]
) -> None:
    with_callers(yard)
    async with (
        serving(yard.root, env=state) as server,
        as_caller(server, ANN, MODERN) as ann,
        as_caller(server, BOB, MODERN) as bob,
        as_caller(server, BOB, CORE) as bob_too,
    ):
        running, over = [(await begun(ann, tool))["taskId"] for tool in ("long", "job")]
        await outcome(ann, over)
        expired = (await begun(bob_too, "job", task={"ttl": 1}))["taskId"]
        await until_gone(bob_too, expired)
        forged = new_id(b"another key".ljust(32), "bob")
        refusals = [
            json.dumps(await bob.error(method, {"taskId": task_id, "inputResponses": {}}))
            for task_id in (running, over, expired, forged, forged[:-1], "", "x")
            for method in ("tasks/get", "tasks/update", "tasks/cancel")
        ]
        for task_id in (running, over, expired, forged):
            for method in ("tasks/get", "tasks/result", "tasks/cancel"):
                refusals.append(json.dumps(await bob_too.error(method, {"taskId": task_id})))
    assert len(set(refusals)) == 1


async def until_gone(client: HttpClient, task_id: str) -> None:
    async with asyncio.timeout(10):
        while "error" not in await client.request("tasks/get", {"taskId": task_id}):
            await asyncio.sleep(0.01)


async def test_who_has_too_many_is_told_which_bound_it_was(
    yard: Yard, state: dict[str, str]
) -> None:
    yard.write("toolyard.json", {"maxTasks": 2, "maxKeptTasks": 4})
    async with knowing_client(yard, state) as client:
        tasks = [await begun(client, "long") for _ in range(2)]
        error = await client.error("tools/call", {"name": "long"})
        assert "2 tasks are running already" in error["message"]
        for task in tasks:
            await client.result("tasks/cancel", {"taskId": task["taskId"]})
        for _ in range(2):
            await outcome(client, (await begun(client, "job"))["taskId"])
        error = await client.error("tools/call", {"name": "job"})
        assert "4 tasks are kept already" in error["message"]


async def test_a_result_that_is_too_large_is_not_kept_and_says_so(
    yard: Yard, state: dict[str, str]
) -> None:
    yard.write("toolyard.json", {"maxTaskResultBytes": 1000})
    yard.tool("large", "head -c 5000 /dev/zero | tr '\\0' x", taskSupport="optional")
    async with knowing_client(yard, state) as client:
        result = await outcome(client, (await begun(client, "large"))["taskId"])
        assert result["isError"] is True
        assert "larger than 1000 bytes" in result["content"][0]["text"]


async def test_a_task_whose_time_is_over_is_ended_and_forgotten(
    yard: Yard, state: dict[str, str]
) -> None:
    async with serving(yard.root, env=state) as server, over_http(server.url, CORE) as client:
        task = await begun(client, "long", task={"ttl": 400})
        assert "error" in await client.request("tasks/result", {"taskId": task["taskId"]})
        await until_gone(client, task["taskId"])
        assert (await client.error("tasks/get", {"taskId": task["taskId"]}))["code"] == -32602


async def test_tasks_do_not_keep_calls_from_running(yard: Yard, state: dict[str, str]) -> None:
    """The gate of ordinary calls has one place here, and four tasks take none of it."""
    yard.write("toolyard.json", {"maxConcurrentRequests": 1})
    async with knowing_client(yard, state) as client:
        for _ in range(4):
            await begun(client, "long")
        assert (await client.call("plain"))["content"][0]["text"].strip() == "plain"


async def test_a_task_has_a_time_limit_of_its_own(yard: Yard, state: dict[str, str]) -> None:
    yard.tool("slow", "sleep 1; echo slept", taskSupport="optional", timeoutSecs=0.2)
    yard.tool("short", "sleep 9", taskSupport="optional", taskTimeoutSecs=0.2)
    async with knowing_client(yard, state) as client:
        result = await outcome(client, (await begun(client, "slow"))["taskId"])
        assert result["content"][0]["text"].strip() == "slept"
        result = await outcome(client, (await begun(client, "short"))["taskId"])
        assert result["isError"] is True
