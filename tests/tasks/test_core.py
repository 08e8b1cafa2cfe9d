"""Tasks as clients of 2025-11-25 meet them: a part of the core, asked for with `params.task`."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.hooks.yard import Yard
from tests.peers.raw import RawClient, over_stdio
from tests.peers.raw_http import over_http
from tests.peers.serving import Listening
from tests.tasks.knowing import begun, reaches
from tests.until import until
from toolyard.methods.tasks import _put
from toolyard.protocol.call import Call, Channel, Questions
from toolyard.protocol.client import ABLE
from toolyard.protocol.revisions import R2025_11_25
from toolyard.protocol.tasks.record import TaskRecord
from toolyard.tasks.questions import TaskQuestions
from toolyard.tasks.running import RunningTask

CORE = "2025-11-25"
RELATED = "io.modelcontextprotocol/related-task"
ASKED: dict[str, Any] = {"elicitation": {}}


async def result_of(client: RawClient, task: Any) -> Any:
    return await client.result("tasks/result", {"taskId": task["taskId"]})


async def test_what_it_can_do_and_which_tools_may_is_told_in_this_revision_alone(
    server: Listening,
) -> None:
    for revision in ("2024-11-05", "2025-06-18", CORE):
        async with over_http(server.url, revision) as client:
            tools = (await client.result("tools/list"))["tools"]
            said = {tool["name"]: tool["execution"] for tool in tools if "execution" in tool}
            if revision == CORE:
                tasks = client.server["capabilities"]["tasks"]
                assert tasks == {"cancel": {}, "requests": {"tools": {"call": {}}}}
                assert said["only"] == {"taskSupport": "required"}
                assert said["inline"] == {"taskSupport": "optional"}
            else:
                assert (client.server["capabilities"].get("tasks"), said) == (None, {})
                assert (await client.call("only"))["content"][0]["text"].strip() == "only"


async def test_a_task_is_begun_shown_and_its_result_given_as_often_as_asked(
    server: Listening,
) -> None:
    async with over_http(server.url, CORE) as client:
        task = await begun(client, "job", task={"ttl": 60_000})
        assert (task["status"], task["ttl"]) == ("working", 60_000)
        for _ in range(2):
            result = await result_of(client, task)
            assert result["content"][0]["text"].strip() == f"run {task['taskId']}"
            assert result["_meta"][RELATED] == {"taskId": task["taskId"]}
        seen = await client.result("tasks/get", {"taskId": task["taskId"]})
        assert seen["status"] == "completed"
        assert "result" not in seen


async def test_a_result_with_an_error_is_a_failed_task_here(server: Listening) -> None:
    async with over_http(server.url, CORE) as client:
        task = await begun(client, "fails", task={})
        assert (await reaches(client, task["taskId"], "failed", "completed"))["status"] == "failed"
        assert (await result_of(client, task))["isError"] is True


async def test_a_call_must_fit_what_the_tool_says(server: Listening) -> None:
    async with over_http(server.url, CORE) as client:
        assert (await client.error("tools/call", {"name": "only"}))["code"] == -32601
        refused = await client.error("tools/call", {"name": "plain", "task": {}})
        assert refused["code"] == -32601
        assert (await client.call("job"))["content"][0]["text"].strip() == "run"
        for wish in (7, {"ttl": "soon"}, {"ttl": -1}, {"ttl": 0}, {"ttl": True}):
            error = await client.error("tools/call", {"name": "job", "task": wish})
            assert error["code"] == -32602


async def test_a_task_is_never_kept_longer_than_the_operator_allows(server: Listening) -> None:
    async with over_http(server.url, CORE) as client:
        task = await begun(client, "job", task={"ttl": 10**15})
        assert task["ttl"] == 86_400_000


async def test_questions_come_with_the_result_and_name_their_task(server: Listening) -> None:
    heard: list[Any] = []

    def answer(params: Any) -> Any:
        heard.append(params)
        return {"action": "accept", "content": {"name": "Ada"}}

    answers = {"elicitation/create": answer}
    async with over_http(server.url, CORE, capabilities=ASKED, answers=answers) as client:
        task = await begun(client, "asks", task={})
        await reaches(client, task["taskId"], "input_required")
        assert heard == []
        assert (await result_of(client, task))["content"][0]["text"].strip() == "Ada"
    assert [params["_meta"][RELATED]["taskId"] for params in heard] == [task["taskId"]]


async def test_a_question_is_left_to_a_client_that_can_be_asked(server: Listening) -> None:
    """Two sessions of one caller wait for the same task; the first one answers no questions."""
    answers = {"elicitation/create": {"action": "accept", "content": {"name": "Ada"}}}
    async with (
        over_http(server.url, CORE, capabilities=ASKED, answers=answers) as able,
        over_http(server.url, CORE) as other,
    ):
        task = await begun(able, "asks", task={})
        await reaches(able, task["taskId"], "input_required")
        waiting = asyncio.ensure_future(result_of(other, task))
        assert await other.result("ping") == {}  # gives it the time to be the first to wait
        assert (await result_of(able, task))["content"][0]["text"].strip() == "Ada"
        assert (await waiting)["content"][0]["text"].strip() == "Ada"
    assert (len(able.questions), other.questions) == (1, [])


class Silent(Channel):
    """A client that never answers."""

    async def ask(self, questions: Questions, timeout: float | None = None) -> Any:
        await asyncio.Event().wait()


async def test_a_question_that_nobody_waits_for_any_more_can_be_asked_again() -> None:
    call = Call("tools/call", {}, R2025_11_25, ABLE)
    questions = TaskQuestions(call, lambda: None)
    form = {"method": "elicitation/create", "params": {"message": "?", "requestedSchema": {}}}
    asking = asyncio.ensure_future(questions.ask({"q": form}, 10))
    await asyncio.sleep(0)
    (entry,) = questions.unclaimed()
    entry.claimed = True
    task = RunningTask(TaskRecord("id", "c", "t", 0, 0, 1, 1), call, never)
    put = asyncio.ensure_future(_put(task, entry, Silent()))
    await asyncio.sleep(0)
    assert questions.unclaimed() == []
    put.cancel()
    await asyncio.wait([put])
    assert questions.unclaimed() == [entry]
    questions.settle(entry, {"action": "cancel"})
    assert await asking == {"q": {"action": "cancel"}}


async def never(_record: TaskRecord) -> bool:
    raise AssertionError("nothing is to be written")


async def test_progress_and_logs_go_on_after_the_handle_and_name_their_task(
    yard: Yard, state: dict[str, str]
) -> None:
    async with over_stdio(yard.served, CORE, env=state) as client:
        params = {"name": "reports", "task": {}}
        result = await client.result("tools/call", params, meta={"progressToken": "p"})
        progress = (await client.notification("notifications/progress"))["params"]
        assert (progress["progressToken"], progress["progress"]) == ("p", 40)
        assert progress["_meta"][RELATED] == {"taskId": result["task"]["taskId"]}
        message = (await client.notification("notifications/message"))["params"]
        assert message["_meta"][RELATED] == {"taskId": result["task"]["taskId"]}
        yard.write("go", "")
        assert (await result_of(client, result["task"]))["content"][0]["text"].strip() == "done"


STATUS = "notifications/tasks/status"


async def test_each_new_status_is_told_unasked_to_the_session_that_began_the_task(
    server: Listening,
) -> None:
    """On the stream of the session, and without the mark that everything else of a task has."""
    answers = {"elicitation/create": {"action": "accept", "content": {"name": "Ada"}}}
    async with (
        over_http(server.url, CORE, capabilities=ASKED, answers=answers) as client,
        over_http(server.url, CORE) as other,
    ):
        await client.open_get()
        await other.open_get()
        task = await begun(client, "asks", task={})
        asking = (await client.notification(STATUS))["params"]
        assert asking == await client.result("tasks/get", {"taskId": task["taskId"]})
        assert asking["status"] == "input_required"
        await result_of(client, task)
        states = [(await client.notification(STATUS))["params"]["status"] for _ in range(2)]
        assert states == ["working", "completed"]
        task = await begun(client, "fails", task={})
        failed = (await client.notification(STATUS))["params"]
        assert (failed["taskId"], failed["status"]) == (task["taskId"], "failed")
        task = await begun(client, "long", task={})
        cancelled = await client.result("tasks/cancel", {"taskId": task["taskId"]})
        assert (await client.notification(STATUS))["params"] == cancelled
        task = await begun(other, "job", task={})
        assert (await other.notification(STATUS))["params"]["taskId"] == task["taskId"]


async def test_a_client_over_stdio_is_told_too_and_one_that_waits_is_not(
    yard: Yard, state: dict[str, str]
) -> None:
    async with over_stdio(yard.served, CORE, env=state) as client:
        assert (await client.call("job"))["content"][0]["text"].strip() == "run"
        task = await begun(client, "job", task={})
        news = (await client.notification(STATUS))["params"]
        assert (news["taskId"], news["status"]) == (task["taskId"], "completed")


async def test_cancelling_is_final_and_done_once(server: Listening, yard: Yard) -> None:
    async with over_http(server.url, CORE) as client:
        task = await begun(client, "long", task={})
        pids = yard.root / "pids"
        await until(lambda: pids.exists() and pids.read_text().strip())
        cancelled = await client.result("tasks/cancel", {"taskId": task["taskId"]})
        assert cancelled["status"] == "cancelled"
        pid = int(pids.read_text())
        await until(lambda: not Path(f"/proc/{pid}").exists())
        assert (await client.error("tasks/cancel", {"taskId": task["taskId"]}))["code"] == -32602
        error = await client.error("tasks/result", {"taskId": task["taskId"]})
        assert error["message"] == "The task was cancelled"


@pytest.mark.parametrize("method", ["tasks/get", "tasks/result", "tasks/cancel"])
async def test_an_unknown_task_is_refused(server: Listening, method: str) -> None:
    async with over_http(server.url, CORE) as client:
        assert (await client.error(method, {"taskId": "x" * 44}))["code"] == -32602
        await begun(client, "job", task={})
        assert (await client.error(method, {"taskId": "x" * 44}))["code"] == -32602


async def test_callers_that_nobody_tells_apart_cannot_list_tasks(server: Listening) -> None:
    async with over_http(server.url, CORE) as client:
        await begun(client, "job", task={})
        assert (await client.error("tasks/list"))["code"] == -32601


async def test_older_revisions_have_no_tasks(server: Listening) -> None:
    async with over_http(server.url, "2025-06-18") as client:
        for method in ("tasks/get", "tasks/list", "tasks/result", "tasks/cancel"):
            assert (await client.error(method, {"taskId": "x"}))["code"] == -32601
        assert (await client.call("job"))["content"][0]["text"].strip() == "run"


async def test_the_extension_declared_in_this_revision_counts_for_nothing(
    server: Listening,
) -> None:
    declared: dict[str, Any] = {"extensions": {"io.modelcontextprotocol/tasks": {}}}
    async with over_http(server.url, CORE, capabilities=declared) as client:
        assert (await client.call("job"))["content"][0]["text"].strip() == "run"
