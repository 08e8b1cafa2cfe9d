"""The TypeScript SDK, which has the tasks of 2025-11-25: a server whose tool runs only as a task
behind a gateway, and a client before two replicas.
"""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.conformance.suite import BIN, CACHE, fetch
from tests.hooks.yard import Yard
from tests.peers.raw_http import over_http
from tests.peers.redis import needs_redis
from tests.peers.serving import Listening, serving
from tests.tasks.knowing import ABLE, begun, outcome, reaches
from tests.tasks.test_bounds import ANN, with_callers
from tests.tasks.test_replicas import two

pytestmark = [pytest.mark.long, pytest.mark.asyncio(loop_scope="module")]
SDK = "@modelcontextprotocol/sdk@1.32.2"
SERVER = Path(__file__).parent / "typescript_server.mjs"
CLIENT = Path(__file__).parent / "typescript_client.mjs"
ASKED: dict[str, Any] = {"elicitation": {}}
ADA: dict[str, Any] = {"elicitation/create": {"action": "accept", "content": {"name": "Ada"}}}


def with_sdk(program: Path) -> list[str]:
    """The command that runs a program beside the SDK."""
    home = CACHE / "typescript-sdk" / "1.32.2"
    if not (home / "node_modules" / "zod").is_dir():
        home.mkdir(parents=True, exist_ok=True)
        (home / "package.json").write_text('{"private": true, "type": "module"}\n')
        fetch(home, SDK, "zod@4")
    return [str(BIN / "node"), str(shutil.copy(program, home / program.name))]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def gate(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Listening]:
    folder = tmp_path_factory.mktemp("gate")
    node, program = with_sdk(SERVER)
    command = {"command": node, "args": [program]}
    server = {"name": "ts", "expose": "all", "stdio": command}
    (folder / "registry.json").write_text(json.dumps({"servers": [server]}))
    env = {"XDG_STATE_HOME": str(folder / "state")}
    async with serving(folder / "registry.json", env=env) as running:
        yield running


async def test_a_client_of_the_oldest_revision_waits_and_hears_progress(gate: Listening) -> None:
    async with over_http(gate.url, "2024-11-05") as client:
        params = {"name": "slow", "arguments": {}}
        result = await client.result("tools/call", params, meta={"progressToken": 5})
        assert result == {"content": [{"type": "text", "text": "done for nobody"}]}
        progress = await client.notification("notifications/progress")
        assert progress["params"]["progressToken"] == 5


@pytest.mark.parametrize(
    ("revision", "able"), [("2025-06-18", {**ASKED, "roots": {}}), ("2024-11-05", {"sampling": {}})]
)
async def test_an_older_client_that_can_be_asked_waits_and_is_asked_the_tasks_questions(
    gate: Listening, revision: str, able: dict[str, Any]
) -> None:
    """Its own connection to the server speaks its revision, which has no tasks."""
    answers = {**ADA, "roots/list": {"roots": []}}
    async with over_http(gate.url, revision, capabilities=able, answers=answers) as client:
        for _ in range(2):
            params = {"name": "slow", "arguments": {"ask": "elicitation" in able}}
            result = await client.result("tools/call", params, meta={"progressToken": 5})
            name = "Ada" if "elicitation" in able else "nobody"
            assert result == {"content": [{"type": "text", "text": f"done for {name}"}]}
            progress = await client.notification("notifications/progress")
            assert progress["params"]["progressToken"] == 5
        asked = [question["params"] for question in client.questions]
        assert all("_meta" not in params for params in asked)


async def test_a_client_of_its_own_revision_is_asked_for_its_own_task(gate: Listening) -> None:
    async with over_http(gate.url, "2025-11-25", capabilities=ASKED, answers=ADA) as client:
        (tool,) = (await client.result("tools/list"))["tools"]
        assert tool["execution"] == {"taskSupport": "optional"}
        task = await begun(client, "slow", {"ask": True}, task={})
        result = await client.result("tasks/result", {"taskId": task["taskId"]})
        assert result["content"][0]["text"] == "done for Ada"
        related = client.questions[0]["params"]["_meta"]["io.modelcontextprotocol/related-task"]
        assert related == {"taskId": task["taskId"]}


async def test_a_client_of_the_extension_answers_and_cancels(gate: Listening) -> None:
    async with over_http(gate.url, "2026-07-28", capabilities=ABLE) as client:
        task = (await begun(client, "slow", {"ask": True}))["taskId"]
        (key,) = (await reaches(client, task, "input_required"))["inputRequests"]
        answer = {"action": "accept", "content": {"name": "Ada"}}
        update = {"taskId": task, "inputResponses": {key: answer}}
        await client.result("tasks/update", update)
        result = await outcome(client, task)
        assert result == {"content": [{"type": "text", "text": "done for Ada"}]}
        task = (await begun(client, "slow", {"ms": 60_000}))["taskId"]
        await client.result("tasks/cancel", {"taskId": task})
        assert (await reaches(client, task, "cancelled"))["status"] == "cancelled"


@needs_redis
async def test_its_client_begins_tasks_at_one_replica_and_looks_after_them_at_another(
    yard: Yard, state: dict[str, str]
) -> None:
    with_callers(yard)
    async with two(yard.root, state) as both:
        urls = (both.owner.url, both.other.url)
        process = await asyncio.create_subprocess_exec(
            *with_sdk(CLIENT), *urls, ANN, stdout=asyncio.subprocess.PIPE
        )
        async with asyncio.timeout(60):
            out, _ = await process.communicate()
    seen = json.loads(out)
    asks, long = seen["asks"]["task"], seen["long"]["task"]
    assert seen["asks"] == {"task": asks, "result": "Ada", "status": "completed"}
    assert seen["asked"] == [{"url": both.other.url, "task": asks}]
    assert seen["long"] == {
        "task": long,
        "before": "working",
        "cancelled": "cancelled",
        "result": "MCP error -32600: The task was cancelled",
        "after": "cancelled",
    }
    assert seen["whole"][0] == "taskCreated"
    assert seen["whole"][-1].startswith("run ")
    assert [listed[1] for listed in seen["listed"]] == ["completed", "cancelled", "completed"]
    assert seen["unknown"] == -32602
