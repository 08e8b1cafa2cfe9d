"""Minimal mode, no project at all, and what the command `mcp-bash` does its own way."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.hooks.yard import Yard, mcp_bash, text_of
from tests.peers.raw import over_stdio
from tests.peers.raw_http import over_http
from tests.peers.serving import listening, serving, toolyard

MINIMAL = {"MCPBASH_FORCE_MINIMAL": "true"}
DECLINED = [
    *("tools/list", "tools/call", "resources/list", "resources/read", "resources/subscribe"),
    *("resources/templates/list", "prompts/list", "prompts/get", "completion/complete"),
]


async def test_minimal_mode_offers_logging_alone_over_stdio(yard: Yard) -> None:
    yard.tool("any")
    async with over_stdio(yard.served, env=MINIMAL) as client:
        assert client.server["capabilities"] == {"logging": {}}
        assert await client.result("ping") == {}
        assert await client.result("logging/setLevel", {"level": "debug"}) == {}
        for method in DECLINED:
            assert (await client.error(method))["code"] == -32601


@pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])
async def test_minimal_mode_is_the_same_over_http(yard: Yard, revision: str) -> None:
    async with (
        serving(yard.root, env=MINIMAL) as server,
        over_http(server.url, revision) as client,
    ):
        assert client.server["capabilities"] == {"logging": {}}
        for method in ("tools/list", "resources/list", "prompts/list"):
            assert (await client.error(method))["code"] == -32601


@pytest.mark.parametrize("command", [mcp_bash(), toolyard("serve")], ids=["mcp-bash", "toolyard"])
async def test_without_a_project_one_tool_explains_how_to_make_one(
    command: list[str], tmp_path: Path
) -> None:
    place = tmp_path / "tmp"
    place.mkdir()
    async with over_stdio(command, cwd=tmp_path, env={"TMPDIR": str(place)}) as client:
        listed = await client.result("tools/list")
        assert [tool["name"] for tool in listed["tools"]] == ["getting_started"]
        text = text_of(await client.call("getting_started"))
        assert " new my-project" in text and "server.d/server.meta.json" in text
        assert await client.end_of_input() == 0
    assert os.listdir(place) == []


async def test_without_a_project_the_same_is_served_over_http(tmp_path: Path) -> None:
    command = toolyard("serve", "--http", "127.0.0.1:0")
    env = {"TMPDIR": str(tmp_path)}
    async with (
        listening(command, cwd=tmp_path, env=env) as server,
        over_http(server.url, "2026-07-28") as client,
    ):
        assert "no project" in text_of(await client.call("getting_started"))
    assert os.listdir(tmp_path) == []


async def test_the_explanation_works(tmp_path: Path) -> None:
    """What it says to write by hand is a project."""
    project = tmp_path / "my-project"
    for folder in ("server.d", "tools/hello"):
        (project / folder).mkdir(parents=True)
    (project / "server.d/server.meta.json").write_text('{"name": "my-project"}')
    tool = project / "tools/hello/tool.sh"
    tool.write_text("#!/bin/sh\necho hello\n")
    tool.chmod(0o755)
    (project / "tools/hello/tool.meta.json").write_text(
        '{"name": "hello", "description": "Says hello"}'
    )
    async with over_stdio(toolyard("serve"), cwd=project) as client:
        assert text_of(await client.call("hello")) == "hello"


async def test_mcp_bash_denies_tools_unless_they_are_allowed(yard: Yard) -> None:
    yard.tool("one")
    yard.tool("two")
    async with over_stdio(mcp_bash(), cwd=yard.root) as client:
        error = await client.error("tools/call", {"name": "one"})
        assert error["code"] == -32602
        assert error["message"] == (
            "Tool 'one' blocked by policy. Set MCPBASH_TOOL_ALLOWLIST in your MCP client config."
        )
    env = {"MCPBASH_TOOL_ALLOWLIST": "one,three"}
    async with over_stdio(mcp_bash(), cwd=yard.root, env=env) as client:
        assert text_of(await client.call("one")) == "ran"
        error = await client.error("tools/call", {"name": "two"})
        assert error["message"] == "Tool 'two' blocked by policy (not in MCPBASH_TOOL_ALLOWLIST)"


async def test_mcp_bash_finds_its_project_by_the_variable(yard: Yard, tmp_path: Path) -> None:
    env = {"MCPBASH_PROJECT_ROOT": str(yard.root)}
    async with over_stdio(mcp_bash(), cwd=tmp_path, env=env) as client:
        assert client.server["serverInfo"]["name"] == "yard"


async def test_mcp_bash_refuses_a_version_that_it_does_not_know(yard: Yard) -> None:
    hello = {"protocolVersion": "2023-01-01", "capabilities": {}}
    async with over_stdio(mcp_bash(), cwd=yard.root, start=False) as client:
        error = await client.error("initialize", hello)
        assert error["code"] == -32602
        assert error["message"] == (
            "Unsupported protocol version: 2023-01-01. "
            "Supported: 2025-11-25,2025-06-18,2025-03-26,2024-11-05"
        )
        assert await client.start()
    async with over_stdio(yard.served, start=False) as client:
        answer = await client.result(
            "initialize", {**hello, "clientInfo": {"name": "x", "version": "1"}}
        )
    assert answer["protocolVersion"] == "2025-11-25"


async def test_mcp_bash_lists_fifty_at_a_time(yard: Yard) -> None:
    for number in range(60):
        yard.tool(f"tool-{number:02}")
    async with over_stdio(mcp_bash(), cwd=yard.root) as client:
        first = await client.result("tools/list")
        rest = await client.result("tools/list", {"cursor": first["nextCursor"]})
    assert (len(first["tools"]), len(rest["tools"])) == (50, 10)
    assert first["_meta"]["mcpbash/total"] == 60
    async with over_stdio(yard.served) as client:
        assert len((await client.result("tools/list"))["tools"]) == 60


async def test_mcp_bash_says_who_reads_a_resource(yard: Yard) -> None:
    yard.write("resources/note.txt", "hi")
    async with over_stdio(mcp_bash(), cwd=yard.root) as client:
        assert (await client.result("resources/list"))["resources"][0]["provider"] == "file"
    async with over_stdio(yard.served) as client:
        assert "provider" not in (await client.result("resources/list"))["resources"][0]
