"""What servers tell models reaches the models behind the gateway: those that see the server."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.gateway.yard import ECHO, Yard
from tests.peers.raw import over_stdio
from tests.peers.raw_http import over_http
from tests.peers.serving import serving, toolyard

REVISIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"]
BOTH = "## a\n\nAsk a first.\n\n## b\n\nThen b."


def two_servers(yard: Yard, **of_b: Any) -> None:
    servers = []
    for name, text, more in (("a", "Ask a first.", {}), ("b", "Then b.", of_b)):
        tool = {**ECHO, "name": f"echo_{name}"}
        servers.append(yard.upstream(name, tool, expose="all", **more))
        yard.describe(name, tool, instructions=text)
    yard.registry(servers=servers)


async def told(url: str, revision: str) -> str | None:
    async with over_http(url, revision) as client:
        text: str | None = client.server.get("instructions")
        return text


@pytest.mark.parametrize("revision", REVISIONS)
async def test_instructions_of_all_servers_are_merged_in_every_revision(
    yard: Yard, revision: str
) -> None:
    two_servers(yard)
    async with serving(yard.file, "--no-page") as server:
        await listed(server.url)
        assert await told(server.url, revision) == BOTH


@pytest.mark.parametrize(
    ("own", "expected"),
    [(False, "## a\n\nAsk a first."), ("Mine.", "## a\n\nAsk a first.\n\n## b\n\nMine.")],
)
async def test_the_registry_replaces_or_drops_what_a_server_says(
    yard: Yard, own: object, expected: str
) -> None:
    two_servers(yard, instructions=own)
    async with serving(yard.file, "--no-page") as server:
        await listed(server.url)
        assert await told(server.url, "2025-11-25") == expected


async def test_a_caller_reads_nothing_of_servers_that_it_does_not_see(yard: Yard) -> None:
    two_servers(yard)
    yard.write("toolyard.json", {"rules": [{"tools": ["echo_b"]}]})
    async with serving(yard.root, "--no-page") as server:
        await listed(server.url)
        assert await told(server.url, "2025-11-25") == "## b\n\nThen b."


async def test_a_stdio_client_is_told_at_the_next_start_what_servers_said(yard: Yard) -> None:
    two_servers(yard)
    for expected in (None, BOTH):
        async with over_stdio(toolyard("serve", yard.file)) as client:
            assert client.server.get("instructions") == expected
            await client.result("tools/list")
            await client.end_of_input()
    yard.registry(**{**json.loads(yard.file.read_text()), "servers": []})
    async with over_stdio(toolyard("serve", yard.file)) as client:
        assert "instructions" not in client.server


async def told_over_stdio(yard: Yard, **env: str) -> str | None:
    """What a start says first, before it lists and ends in order."""
    async with over_stdio(toolyard("serve", yard.root), env=env) as client:
        await client.result("tools/list")
        await client.end_of_input()
        text: str | None = client.server.get("instructions")
        return text


async def test_over_stdio_nothing_is_told_that_was_made_of_something_else(yard: Yard) -> None:
    two_servers(yard)
    own = yard.root / "server.d" / "server.instructions.md"
    own.parent.mkdir()
    own.write_text("Ours.")
    assert [await told_over_stdio(yard) for _ in range(2)] == ["Ours.", f"Ours.\n\n{BOTH}"]
    own.write_text("Ours, anew.")
    assert await told_over_stdio(yard) == "Ours, anew."
    assert await told_over_stdio(yard) == f"Ours, anew.\n\n{BOTH}"
    short = {"TOOLYARD_MAX_INSTRUCTIONS_BYTES": "0"}
    assert [await told_over_stdio(yard, **short) for _ in range(2)] == ["Ours, anew."] * 2
    yard.write("toolyard.json", {"rules": [{"tools": ["echo_b"]}]})
    assert await told_over_stdio(yard) == "Ours, anew."
    assert await told_over_stdio(yard) == "Ours, anew.\n\n## b\n\nThen b."


async def listed(url: str) -> None:
    """Once both servers have said what they have: the first list waits for them."""
    async with over_http(url) as client:
        assert (await client.result("tools/list"))["tools"]
