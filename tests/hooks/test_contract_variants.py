"""The same project with other choices: registered by hand, static, narrowed, guarded."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.hooks.contract import CAN, contract, conversation
from tests.hooks.yard import mcp_bash, text_of
from tests.peers.raw import RawClient, over_stdio
from tests.peers.serving import environment, toolyard

pytestmark = pytest.mark.long

BOTH = ["mcp-bash 2025-11-25", "http 2026-07-28"]


@pytest.fixture
def project() -> Iterator[Path]:
    with contract() as project:
        yield project


async def tools(client: RawClient) -> list[str]:
    return [tool["name"] for tool in (await client.result("tools/list"))["tools"]]


async def run(*command: str, cwd: Path) -> tuple[int | None, str]:
    process = await asyncio.create_subprocess_exec(
        *command,
        cwd=cwd,
        env=environment(),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    output, _ = await process.communicate()
    return process.returncode, output.decode()


@pytest.mark.parametrize("way", BOTH)
async def test_what_is_registered_by_hand_takes_the_place_of_what_is_found(
    project: Path, way: str
) -> None:
    shutil.copy(project / "registered" / "register.json", project / "server.d")
    async with conversation(way, project) as client:
        assert await tools(client) == ["only"]
        assert text_of(await client.call("only")) == "inline {}"
        assert (await client.result("prompts/list"))["prompts"] == []
        resources = (await client.result("resources/list"))["resources"]
        assert "note" in [resource["name"] for resource in resources]


@pytest.mark.parametrize("way", BOTH)
async def test_a_static_registry_is_served_as_it_is(project: Path, way: str) -> None:
    code, said = await run(*toolyard("registry", "refresh", "--quiet"), cwd=project)
    assert code == 0, said
    shutil.copytree(project / "tools" / "inline", project / "tools" / "later")
    async with conversation(way, project, env={"MCPBASH_STATIC_REGISTRY": "1"}) as client:
        listed = await tools(client)
        assert "inline" in listed and "later" not in listed
        assert text_of(await client.call("inline")) == "inline {}"
        read = await client.result("resources/read", {"uri": "lines://3"})
        assert read["contents"][0]["text"].rstrip("\n").endswith("line 3")
        greeting = {"name": "greet", "arguments": {"name": "Ann"}}
        assert (await client.result("prompts/get", greeting))["messages"]


@pytest.mark.parametrize("way", BOTH)
async def test_without_the_opt_in_neither_hook_is_run(project: Path, way: str) -> None:
    off = {"MCPBASH_ALLOW_PROJECT_HOOKS": "false"}
    async with conversation(way, project, env=off) as client:
        templates = (await client.result("resources/templates/list"))["resourceTemplates"]
        assert [template["name"] for template in templates] == ["user"]
        told = json.loads(text_of(await client.call("environment")))["result"]
        assert told["greeting"] == "none"


@pytest.mark.parametrize("way", BOTH)
async def test_the_policy_follows_the_variables_of_the_operator(project: Path, way: str) -> None:
    async with conversation(way, project, env={"POLICY_GUARDED": "yes"}) as client:
        assert text_of(await client.call("guarded")) == "let in"


async def test_the_roots_of_a_client_over_stdio_are_those_of_its_tools(
    project: Path, tmp_path: Path
) -> None:
    options: dict[str, Any] = {
        "capabilities": {**CAN, "roots": {}},
        "answers": {"roots/list": {"roots": [{"uri": tmp_path.as_uri()}]}},
    }
    async with conversation(BOTH[0], project, **options) as client:
        told = json.loads(text_of(await client.call("roots", {"path": str(tmp_path)})))
        assert told["result"] == {"count": "1", "list": str(tmp_path), "inside": "yes"}
        refused = {"name": "path", "arguments": {"path": str(project)}}
        assert (await client.error("tools/call", refused))["code"] == -32602


@pytest.mark.parametrize("way", BOTH)
async def test_a_tool_asks_for_roots_itself(project: Path, tmp_path: Path, way: str) -> None:
    options: dict[str, Any] = {
        "capabilities": {**CAN, "roots": {}},
        "answers": {"roots/list": {"roots": [{"uri": tmp_path.as_uri()}]}},
    }
    async with conversation(way, project, **options) as client:
        answer = json.loads(text_of(await client.call("ask", {"kind": "roots"})))
    assert answer["roots"][0]["uri"] == tmp_path.as_uri()


async def test_the_project_is_healthy_and_valid(project: Path) -> None:
    code, said = await run(*mcp_bash("--health"), cwd=project)
    assert code == 0, said
    assert json.loads(said)["status"] == "ok"
    code, said = await run(*toolyard("validate"), cwd=project)
    assert code == 0, said


async def test_nothing_is_left_behind(project: Path, tmp_path: Path) -> None:
    env = {"TMPDIR": str(tmp_path), "MCPBASH_ALLOW_PROJECT_HOOKS": "true"}
    async with over_stdio(mcp_bash(), cwd=project, env=env) as client:
        await client.call("embed")
        await client.call("commands")
        assert await client.end_of_input() == 0
    assert os.listdir(tmp_path) == []
