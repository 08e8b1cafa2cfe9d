"""Any client before any upstream: tasks in one form, in the other, or in none, on either side."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.gateway.eras import remember
from tests.hooks.yard import Yard
from tests.peers.raw_http import over_http
from tests.peers.serving import Listening, serving
from tests.tasks.conftest import ASK
from tests.tasks.knowing import ABLE, DECLARED, begun, outcome, reaches
from tests.until import until

UNHURRIED = str(Path(__file__).with_name("unhurried.py"))
TWO_ERAS = str(Path(__file__).with_name("two_eras.py"))
MODERN, CORE, OLD = "2026-07-28", "2025-11-25", "2024-11-05"
ASKED: dict[str, Any] = {"elicitation": {}}
PROGRESS = "; mcp_progress 40 half 100; sleep 1.5; answer="
ASKS_AFTER_PROGRESS = ASK.replace("; answer=", PROGRESS, 1)
ADA: dict[str, Any] = {"elicitation/create": {"action": "accept", "content": {"name": "Ada"}}}


@asynccontextmanager
async def gateway(folder: Path, *servers: dict[str, Any], **more: Any) -> AsyncIterator[Listening]:
    folder.mkdir(exist_ok=True)
    registry = folder / "registry.json"
    registry.write_text(json.dumps({"servers": servers, **more}))
    async with serving(registry, env={"XDG_STATE_HOME": str(folder / "state")}) as running:
        yield running


def upstream(server: Listening, **more: Any) -> dict[str, Any]:
    return {"name": "up", "expose": "all", "url": server.url, "transport": "streamablehttp", **more}


async def test_a_client_of_the_extension_gets_a_handle_of_ours_for_an_upstreams_task(
    server: Listening, tmp_path: Path
) -> None:
    async with (
        gateway(tmp_path / "gate", upstream(server)) as gate,
        over_http(gate.url, MODERN, capabilities=ABLE) as client,
        over_http(server.url, MODERN, capabilities=ABLE) as direct,
    ):
        task = await begun(client, "asks")
        seen = await reaches(client, task["taskId"], "input_required")
        assert (await direct.error("tasks/get", {"taskId": task["taskId"]}))["code"] == -32602
        (key,) = seen["inputRequests"]
        answer = {"action": "accept", "content": {"name": "Ada"}}
        update = {"taskId": task["taskId"], "inputResponses": {key: answer}}
        await client.result("tasks/update", update)
        result = await outcome(client, task["taskId"])
        assert result["content"][0]["text"].strip() == "Ada"


async def test_a_task_is_looked_at_before_the_pace_that_its_server_asks_for(tmp_path: Path) -> None:
    """The server says once an hour; a question and its answer take no time at all."""
    command = {"command": sys.executable, "args": [UNHURRIED]}
    server = {"name": "up", "expose": "all", "stdio": command}
    async with (
        gateway(tmp_path / "gate", server) as gate,
        over_http(gate.url, MODERN, capabilities=ABLE) as client,
    ):
        task = await begun(client, "asks")
        (key,) = (await reaches(client, task["taskId"], "input_required"))["inputRequests"]
        answers = {key: {"action": "accept", "content": {"name": "Ada"}}}
        await client.result("tasks/update", {"taskId": task["taskId"], "inputResponses": answers})
        result = await outcome(client, task["taskId"])
        assert json.loads(result["content"][0]["text"]) == {"name": "Ada"}


async def test_cancelling_here_ends_the_script_over_there(
    server: Listening, yard: Yard, tmp_path: Path
) -> None:
    async with (
        gateway(tmp_path / "gate", upstream(server)) as gate,
        over_http(gate.url, MODERN, capabilities=DECLARED) as client,
    ):
        task = await begun(client, "long")
        pids = yard.root / "pids"
        await until(lambda: pids.exists() and pids.read_text().strip())
        await client.result("tasks/cancel", {"taskId": task["taskId"]})
        pid = int(pids.read_text())
        await until(lambda: not Path(f"/proc/{pid}").exists())


async def test_a_projection_is_applied_to_what_a_task_ends_with(
    server: Listening, yard: Yard, tmp_path: Path
) -> None:
    yard.tool("rich", """sleep 0.2; echo '{"a": 1, "b": 2}'""", taskSupport="required")
    schema = {"type": "object", "properties": {"b": {"type": "integer"}}}
    tool = {"name": "poor", "server": "up", "originalName": "rich", "outputSchema": schema}
    async with (
        gateway(tmp_path / "gate", upstream(server), tools=[tool]) as gate,
        over_http(gate.url, MODERN, capabilities=DECLARED) as client,
    ):
        task = await begun(client, "poor")
        assert (await outcome(client, task["taskId"]))["structuredContent"] == {"b": 2}


async def test_who_knows_no_tasks_waits_for_one_and_hears_its_progress(
    server: Listening, yard: Yard, tmp_path: Path
) -> None:
    """An upstream of the extension alone, whose tool runs only as a task."""
    yard.tool("must", yard_report(yard), taskSupport="required")
    async with (
        gateway(tmp_path / "gate", upstream(server)) as gate,
        over_http(gate.url, OLD) as client,
    ):
        params = {"name": "must", "arguments": {}}
        call = asyncio.ensure_future(
            client.request("tools/call", params, meta={"progressToken": 1})
        )
        progress = (await client.notification("notifications/progress"))["params"]
        assert (progress["progress"], progress["total"]) == (40, 100)
        yard.write("go", "")
        assert (await call)["result"]["content"][0]["text"].strip() == "done"


def yard_report(yard: Yard) -> str:
    return (yard.root / "tools" / "reports" / "tool.sh").read_text()


async def test_a_client_of_the_core_form_before_an_upstream_that_has_it(
    server: Listening, tmp_path: Path
) -> None:
    async with (
        gateway(tmp_path / "gate", upstream(server)) as gate,
        over_http(gate.url, CORE, capabilities=ASKED, answers=ADA) as client,
    ):
        tools = (await client.result("tools/list"))["tools"]
        said = {tool["name"]: tool.get("execution") for tool in tools}
        # Who does not ask for a task waits, and we have one: so it is not required here.
        assert said["only"] == said["job"] == {"taskSupport": "optional"}
        assert said["plain"] is None
        assert (await client.call("only"))["content"][0]["text"].strip() == "only"
        task = await begun(client, "asks", task={})
        result = await client.result("tasks/result", {"taskId": task["taskId"]})
        assert result["content"][0]["text"].strip() == "Ada"
        assert result["_meta"]["io.modelcontextprotocol/related-task"]["taskId"] == task["taskId"]


@pytest.mark.parametrize("revision", [OLD, CORE, MODERN])
async def test_a_plain_upstream_can_be_hosted_as_a_task(
    server: Listening, tmp_path: Path, revision: str
) -> None:
    """The registry says that calls of a tool may become tasks, though its server knows none."""
    tool = {"name": "kept", "server": "up", "originalName": "plain", "taskSupport": "optional"}
    capabilities = DECLARED if revision == MODERN else {}
    async with (
        gateway(tmp_path / "gate", upstream(server), tools=[tool]) as gate,
        over_http(gate.url, revision, capabilities=capabilities) as client,
    ):
        if revision == OLD:
            result = await client.call("kept")
        elif revision == CORE:
            task = await begun(client, "kept", task={})
            result = await client.result("tasks/result", {"taskId": task["taskId"]})
        else:
            result = await outcome(client, (await begun(client, "kept"))["taskId"])
        assert result["content"][0]["text"].strip() == "plain"


async def test_a_task_at_an_upstream_goes_on_while_the_gateway_is_restarted(
    server: Listening, yard: Yard, tmp_path: Path
) -> None:
    async with gateway(tmp_path / "gate", upstream(server)) as gate:
        async with over_http(gate.url, MODERN, capabilities=DECLARED) as client:
            task = await begun(client, "reports")
            await reaches(client, task["taskId"], "working")
            stopped = await begun(client, "reports")
        gate.process.kill()
        await gate.process.wait()
    async with (
        gateway(tmp_path / "gate", upstream(server)) as gate,
        over_http(gate.url, MODERN, capabilities=DECLARED) as client,
    ):
        assert (await reaches(client, task["taskId"], "working"))["status"] == "working"
        await client.result("tasks/cancel", {"taskId": stopped["taskId"]})
        yard.write("go", "")
        result = await outcome(client, task["taskId"])
        assert result["content"][0]["text"].strip() == "done"
        assert (await reaches(client, stopped["taskId"], "cancelled"))["status"] == "cancelled"


async def test_an_upstream_that_dies_fails_the_task_with_the_reason(
    yard: Yard, state: dict[str, str], tmp_path: Path
) -> None:
    async with (
        serving(yard.root, env=state) as server,
        gateway(tmp_path / "gate", upstream(server)) as gate,
        over_http(gate.url, MODERN, capabilities=DECLARED) as client,
    ):
        task = await begun(client, "long")
        server.process.kill()
        await server.process.wait()
        result = await outcome(client, task["taskId"])
        assert "up:" in json.dumps(result)


@pytest.mark.parametrize("revision", [OLD, "2025-06-18", CORE])
async def test_handshake_clients_before_an_upstream_of_the_extension_alone(
    server: Listening, yard: Yard, tmp_path: Path, revision: str
) -> None:
    """What a gateway keeps of a server says that it has no other era."""
    yard.tool("must", ASKS_AFTER_PROGRESS, taskSupport="required")
    folder = tmp_path / "gate"
    folder.mkdir()
    (folder / "registry.json").write_text(json.dumps({"servers": [upstream(server)]}))
    await remember(folder / "registry.json", MODERN)
    asked = {} if revision == OLD else ASKED
    async with (
        gateway(folder, upstream(server)) as gate,
        over_http(gate.url, revision, capabilities=asked, answers=ADA) as client,
    ):
        params = {"name": "must", "arguments": {}}
        result = await client.result("tools/call", params, meta={"progressToken": 1})
        expected = "null" if revision == OLD else "Ada"
        assert result["content"][0]["text"].strip() == expected
        progress = (await client.notification("notifications/progress"))["params"]
        assert (progress["progress"], progress["total"]) == (40, 100)


@pytest.mark.parametrize("name", ["asks", "kept"])
async def test_a_client_of_the_core_form_asks_a_server_of_the_extension_alone_for_a_task(
    server: Listening, tmp_path: Path, name: str
) -> None:
    """Such a server has no word for which tools may: it decides about each call by itself."""
    folder = tmp_path / "gate"
    folder.mkdir()
    kept = {"name": "kept", "server": "up", "originalName": "asks"}
    (folder / "registry.json").write_text(json.dumps({"servers": [upstream(server)]}))
    await remember(folder / "registry.json", MODERN)
    async with gateway(folder, upstream(server), tools=[kept]) as gate:
        async with over_http(gate.url, CORE, capabilities=ASKED, answers=ADA) as client:
            tools = (await client.result("tools/list"))["tools"]
            assert {tool["execution"]["taskSupport"] for tool in tools} == {"optional"}
            task = await begun(client, name, task={})
            result = await client.result("tasks/result", {"taskId": task["taskId"]})
            assert result["content"][0]["text"].strip() == "Ada"
            # It answers this one at once, and it is a task here all the same.
            task = await begun(client, "plain", task={})
            result = await client.result("tasks/result", {"taskId": task["taskId"]})
            assert result["content"][0]["text"].strip() == "plain"
            assert (await client.call("plain"))["content"][0]["text"].strip() == "plain"
            task = await begun(client, "long", task={})
            cancelled = await client.result("tasks/cancel", {"taskId": task["taskId"]})
            assert cancelled["status"] == "cancelled"
        async with over_http(gate.url, MODERN, capabilities=ABLE) as client:
            assert (await client.call("plain"))["resultType"] == "complete"
            assert (await begun(client, name))["resultType"] == "task"


@pytest.mark.parametrize("revision", [OLD, CORE])
async def test_a_tool_is_listed_before_it_is_called_where_nobody_knows_whether_it_must_be_a_task(
    server: Listening, tmp_path: Path, revision: str
) -> None:
    """What was kept of its server is from another revision, which has no word for it."""
    folder = tmp_path / "gate"
    folder.mkdir()
    (folder / "registry.json").write_text(json.dumps({"servers": [upstream(server)]}))
    await remember(folder / "registry.json", CORE)
    async with (
        gateway(folder, upstream(server)) as gate,
        over_http(gate.url, revision) as client,
    ):
        assert (await client.call("only"))["content"][0]["text"].strip() == "only"


@pytest.mark.parametrize(
    ("revision", "able"), [(OLD, {}), ("2025-06-18", ASKED), (CORE, ASKED), (CORE, {})]
)
async def test_a_server_with_tasks_in_the_other_era_is_asked_there(
    tmp_path: Path, revision: str, able: dict[str, Any]
) -> None:
    """Clients of the handshake era are served in it, where such a server can only refuse."""
    server = {
        "name": "two",
        "expose": "all",
        "stdio": {"command": sys.executable, "args": [TWO_ERAS]},
    }
    async with (
        gateway(tmp_path / "gate", server) as gate,
        over_http(gate.url, revision, capabilities=able) as client,
    ):
        for _ in range(2):
            assert (await client.call("must"))["content"][0]["text"] == "done"
