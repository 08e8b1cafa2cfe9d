"""Published servers that look at their client: the same behind the gateway as directly."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.gateway.listed import until_listed
from tests.peers.raw import JsonObject, RawClient, over_stdio
from tests.peers.raw_http import over_http
from tests.peers.serving import serving

pytestmark = pytest.mark.long

MODERN, HANDSHAKE = "2026-07-28", "2025-11-25"
ABLE: JsonObject = {"elicitation": {}, "sampling": {}, "roots": {"listChanged": True}}


def registry(folder: Path, *command: str) -> Path:
    file = folder / "registry.json"
    program, *args = command
    up = {"name": "up", "stdio": {"command": program, "args": args}, "expose": "all"}
    file.write_text(json.dumps({"servers": [up]}))
    return file


async def names(client: RawClient) -> list[str]:
    return sorted(tool["name"] for tool in (await client.result("tools/list"))["tools"])


async def test_everything_lists_its_asking_tools_to_who_can_be_asked(
    published: Mapping[str, str], tmp_path: Path
) -> None:
    command = ["mcp-server-everything", "stdio"]
    roots: JsonObject = {"roots/list": {"roots": []}}
    directly: dict[bool, list[str]] = {}
    for able in (False, True):
        capabilities = ABLE if able else {}
        async with over_stdio(
            command, HANDSHAKE, capabilities=capabilities, answers=roots, env=published
        ) as client:
            directly[able] = await names(client)
    assert len(directly[True]) > len(directly[False])
    file = registry(tmp_path, *command)
    async with serving(file, "--no-page", env=published) as running:
        for able in (True, False):
            options: JsonObject = {"capabilities": ABLE if able else {}, "answers": roots}
            async with over_http(running.url, HANDSHAKE, **options) as client:
                await client.open_get()
                while await names(client) != directly[able]:
                    await client.notification("notifications/tools/list_changed", within=60)


@pytest.mark.parametrize("revision", [HANDSHAKE, MODERN])
async def test_filesystem_obeys_the_clients_roots_from_the_first_call_on(
    published: Mapping[str, str], tmp_path: Path, revision: str
) -> None:
    excluded, allowed = tmp_path / "excluded", tmp_path / "allowed"
    for folder in (excluded, allowed):
        folder.mkdir()
    answers: JsonObject = {"roots/list": {"roots": [{"uri": f"file://{allowed}"}]}}
    file = registry(tmp_path, "mcp-server-filesystem", str(excluded))
    async with (
        serving(file, "--no-page", env=published) as running,
        over_http(running.url, revision, capabilities=ABLE, answers=answers) as client,
    ):
        await until_listed(running, "write_file")

        async def write(folder: Path) -> Any:
            arguments = {"path": str(folder / "a.txt"), "content": "hello"}
            return (await client.call("write_file", arguments)).get("isError", False)

        assert not await write(allowed)
        assert await write(excluded)
    assert (allowed / "a.txt").read_text() == "hello"
    assert not (excluded / "a.txt").exists()
