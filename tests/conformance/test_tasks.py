"""The official suite's scenarios for tasks: a project of scripts, and gateways before it.

And a gateway before a server on the TypeScript SDK, which has the other form of tasks.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.conformance.suite import run_scenarios
from tests.conformance.test_gateway import spawned
from tests.peers.sdk_fixtures import PROJECT
from tests.peers.serving import ROOT, Listening, copied, serving, toolyard
from tests.tasks.test_typescript_sdk import with_sdk

pytestmark = [pytest.mark.long, pytest.mark.asyncio(loop_scope="module")]
FIXTURES = ROOT / "tests" / "tasks" / "typescript_fixtures.mjs"
# How many checks of its own each has, beside that its messages fit the schema.
CHECKS = {
    "tasks-lifecycle": 8,
    "tasks-capability-negotiation": 4,
    "tasks-wire-fields": 3,
    "tasks-request-state-removal": 2,
    "tasks-mrtr-input": 3,
    "tasks-request-headers": 4,
    "tasks-dispatch-and-envelope": 8,
    "tasks-required-task-error": 2,
    "tasks-mrtr-composition": 1,
    "tasks-status-notifications": 0,  # the suite skips it whatever the server does
}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def scripts(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Listening]:
    state = {"XDG_STATE_HOME": str(tmp_path_factory.mktemp("state"))}
    with copied(PROJECT) as project:
        async with serving(project, env=state) as server:
            yield server


async def test_the_script_server_passes_every_scenario_for_tasks(
    scripts: Listening, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    await passes_every_scenario("scripts", scripts, capsys)


@pytest.mark.parametrize("transport", ["HTTP", "stdio"])
async def test_the_gateway_before_it_passes_them_too(
    transport: str, scripts: Listening, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    state = {"XDG_STATE_HOME": str(tmp_path / "state")}
    with copied(PROJECT) as project:
        upstream: dict[str, Any] = spawned(toolyard("serve", project))
        upstream["env"] |= {"XDG_STATE_HOME": str(tmp_path / "upstream")}
        if transport == "HTTP":
            upstream = {"url": scripts.url, "transport": "streamablehttp"}
        registry = tmp_path / "registry.json"
        server = {"name": "fixtures", "expose": "all", **upstream}
        registry.write_text(json.dumps({"servers": [server]}))
        async with serving(registry, env=state) as gateway:
            await passes_every_scenario(f"gateway, {transport}", gateway, capsys)


async def test_a_gateway_before_the_core_form_on_the_typescript_sdk_passes_all_that_it_can_say(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """There a task is asked for before anything else: it has no questions before a task."""
    node, program = with_sdk(FIXTURES)
    server = {"name": "ts", "expose": "all", "stdio": {"command": node, "args": [program]}}
    # It would be looked after for clients that do not declare tasks, who are to be refused.
    job = {"name": "failing_job", "server": "ts", "taskSupport": "required"}
    registry = tmp_path / "registry.json"
    registry.write_text(json.dumps({"servers": [server], "tools": [job]}))
    checks = {name: count for name, count in CHECKS.items() if name != "tasks-mrtr-composition"}
    state = {"XDG_STATE_HOME": str(tmp_path / "state")}
    async with serving(registry, env=state) as gateway:
        await passes_every_scenario("TypeScript SDK", gateway, capsys, checks)


async def passes_every_scenario(
    who: str,
    server: Listening,
    capsys: pytest.CaptureFixture[str],
    checks: dict[str, int] = CHECKS,
) -> None:
    passed, remarks = await run_scenarios(server.url, checks)
    with capsys.disabled():
        print(f"\n[tasks, {who}] {sum(passed.values())} checks of {sum(CHECKS.values())}", *remarks)
    assert (passed, remarks) == (checks, [])
