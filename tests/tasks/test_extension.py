"""Tasks as clients of 2026-07-28 meet them: the extension."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

from tests.hooks.yard import Yard
from tests.peers.raw import over_stdio
from tests.peers.raw_http import over_http
from tests.peers.serving import Listening
from tests.tasks.knowing import ABLE, DECLARED, TASKS, begun, outcome, reaches
from tests.until import until

MODERN = "2026-07-28"
UNKNOWN = {"code": -32602, "message": "Unknown task: it does not exist, or no longer"}


async def test_a_tool_that_may_becomes_a_task_and_its_script_knows_which(
    server: Listening,
) -> None:
    async with over_http(server.url, MODERN, capabilities=DECLARED) as client:
        for tool in ("job", "inline", "only"):
            task = await begun(client, tool)
            assert task["resultType"] == "task"
            assert task["status"] == "working"
            result = await outcome(client, task["taskId"])
            expected = f"run {task['taskId']}" if tool == "job" else tool
            assert result["content"][0]["text"].strip() == expected


async def test_a_tool_that_does_not_say_so_is_answered_in_place(server: Listening) -> None:
    async with over_http(server.url, MODERN, capabilities=DECLARED) as client:
        result = await client.result("tools/call", {"name": "plain", "task": {"ttl": 1}})
        assert result["resultType"] == "complete"


async def test_who_does_not_declare_tasks_waits_or_is_told_what_is_missing(
    server: Listening,
) -> None:
    required: dict[str, Any] = {"requiredCapabilities": {"extensions": {TASKS: {}}}}
    async with over_http(server.url, MODERN, capabilities={"tasks": {}}) as client:
        assert (await client.call("job"))["content"][0]["text"].strip() == "run"
        calls = [("tools/call", {"name": "only"})]
        calls += [(f"tasks/{verb}", {"taskId": "x"}) for verb in ("get", "update", "cancel")]
        for method, params in calls:
            error = await client.error(method, params)
            assert (error["code"], error["data"]) == (-32021, required)


async def test_progress_and_logs_become_the_status(server: Listening, yard: Yard) -> None:
    async with over_http(server.url, MODERN, capabilities=DECLARED) as client:
        task = await begun(client, "reports")
        async with asyncio.timeout(10):
            while (seen := await reaches(client, task["taskId"], "working")) is not None:
                if seen.get("statusMessage") == "a line":
                    break
        assert seen["_meta"]["toolyard/progress"] == {"progress": 40, "total": 100}
        assert seen["lastUpdatedAt"] > seen["createdAt"]
        yard.write("go", "")
        assert (await outcome(client, task["taskId"]))["_meta"]["exitCode"] == 0


async def test_a_failed_script_is_a_completed_task_with_its_exit_code(server: Listening) -> None:
    async with over_http(server.url, MODERN, capabilities=DECLARED) as client:
        task = await begun(client, "fails")
        seen = await reaches(client, task["taskId"], "completed", "failed")
        assert seen["status"] == "completed"
        assert seen["result"]["isError"] is True
        assert seen["result"]["_meta"]["exitCode"] == 3


async def test_an_answer_that_does_not_fit_is_asked_for_again_under_a_new_key(
    server: Listening,
) -> None:
    async with over_http(server.url, MODERN, capabilities=ABLE) as client:
        task = await begun(client, "asks")
        keys = []
        for content in ({"name": 7}, {"name": "Ada"}):
            seen = await reaches(client, task["taskId"], "input_required")
            (key,) = seen["inputRequests"]
            keys.append(key)
            answers = {key: {"action": "accept", "content": content}, "never asked": 1}
            update = {"taskId": task["taskId"], "inputResponses": answers}
            assert set(await client.result("tasks/update", update)) == {"resultType", "_meta"}
            again = await client.result("tasks/get", {"taskId": task["taskId"]})
            assert key not in again.get("inputRequests", {})
        assert len(set(keys)) == 2
        result = await outcome(client, task["taskId"])
        assert result["content"][0]["text"].strip() == "Ada"
        update["inputResponses"] = {keys[0]: {"action": "accept", "content": {"name": "late"}}}
        await client.result("tasks/update", update)


async def test_cancelling_ends_the_script_with_everything_it_started(
    server: Listening, yard: Yard
) -> None:
    async with over_http(server.url, MODERN, capabilities=DECLARED) as client:
        task = await begun(client, "long")
        pids = yard.root / "pids"
        await until(lambda: pids.exists() and pids.read_text().strip())
        for _ in range(2):
            ack = await client.result("tasks/cancel", {"taskId": task["taskId"]})
            assert set(ack) == {"resultType", "_meta"}
        assert (await reaches(client, task["taskId"], "cancelled"))["taskId"] == task["taskId"]
        pid = int(pids.read_text())
        await until(lambda: not Path(f"/proc/{pid}").exists())


async def test_a_listener_is_told_every_state_of_its_own_tasks(
    server: Listening, yard: Yard
) -> None:
    async with over_http(server.url, MODERN, capabilities=DECLARED) as client:
        task = await begun(client, "reports")
        filters = {"notifications": {"taskIds": [task["taskId"], "somebody else's"]}}
        listening = asyncio.ensure_future(client.request("subscriptions/listen", filters, id="L"))
        acknowledged = await client.notification("notifications/subscriptions/acknowledged")
        assert acknowledged["params"]["notifications"] == {"taskIds": [task["taskId"]]}
        first = await client.notification("notifications/tasks")
        assert first["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"] == "L"
        yard.write("go", "")
        status = first["params"]["status"]
        while status == "working":
            news = await client.notification("notifications/tasks")
            status = news["params"]["status"]
        assert news["params"]["result"]["content"][0]["text"].strip() == "done"
        listening.cancel()


async def test_listening_to_tasks_needs_the_declaration_too(server: Listening) -> None:
    async with over_http(server.url, MODERN) as client:
        filters = {"notifications": {"taskIds": ["x"]}}
        assert (await client.error("subscriptions/listen", filters))["code"] == -32021


@pytest.mark.parametrize("method", ["tasks/get", "tasks/update", "tasks/cancel"])
async def test_an_unknown_task_is_refused_by_every_method(server: Listening, method: str) -> None:
    async with over_http(server.url, MODERN, capabilities=DECLARED) as client:
        params = {"taskId": "x" * 43, "inputResponses": {}}
        assert await client.error(method, params) == UNKNOWN  # nobody has made one yet
        await begun(client, "job")
        assert await client.error(method, params) == UNKNOWN
        missing = await client.error(method, {"inputResponses": {}})
        assert missing == {"code": -32602, "message": "taskId is required"}


async def test_answers_must_be_an_object(server: Listening) -> None:
    async with over_http(server.url, MODERN, capabilities=ABLE) as client:
        task = await begun(client, "asks")
        for answers in ({}, {"inputResponses": [1]}):
            update = {"taskId": task["taskId"], **answers}
            assert (await client.error("tasks/update", update))["code"] == -32602
        seen = await reaches(client, task["taskId"], "input_required")
        (key,) = seen["inputRequests"]
        update = {"taskId": task["taskId"], "inputResponses": {key: "Ada"}}
        assert (await client.error("tasks/update", update))["code"] == -32602
        assert (await reaches(client, task["taskId"], "input_required"))["inputRequests"]


@pytest.mark.parametrize("method", ["tasks/result", "tasks/list"])
async def test_what_the_extension_has_not_is_not_found(server: Listening, method: str) -> None:
    async with over_http(server.url, MODERN, capabilities=DECLARED) as client:
        assert (await client.error(method, {"taskId": "x"}))["code"] == -32601


async def test_tasks_end_with_a_server_that_its_client_started(
    yard: Yard, state: dict[str, str]
) -> None:
    async with over_stdio(yard.served, MODERN, capabilities=DECLARED, env=state) as client:
        task = await begun(client, "long")
        pids = yard.root / "pids"
        await until(lambda: pids.exists() and pids.read_text().strip())
    pid = int(pids.read_text())
    await until(lambda: not Path(f"/proc/{pid}").exists())
    async with over_stdio(yard.served, MODERN, capabilities=DECLARED, env=state) as client:
        seen = await client.result("tasks/get", {"taskId": task["taskId"]})
        assert (seen["status"], seen["error"]["message"]) == ("failed", "The server was stopped")


async def test_a_server_without_a_task_keeps_no_file_and_imports_no_database(
    server: Listening, state: dict[str, str]
) -> None:
    async with over_http(server.url, MODERN, capabilities=DECLARED) as client:
        await client.call("plain")
        maps = Path(f"/proc/{server.process.pid}/maps").read_text()
        assert "_sqlite3" not in maps
        assert not os.path.exists(state["XDG_STATE_HOME"])
        await begun(client, "job")
        assert "_sqlite3" in Path(f"/proc/{server.process.pid}/maps").read_text()
