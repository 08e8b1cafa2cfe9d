"""Five published servers at once behind one gateway: every tool answers as it does directly."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.gateway.listed import until_listed
from tests.gateway.pages import served_files
from tests.peers.raw import RawClient, over_stdio
from tests.peers.raw_http import over_http
from tests.peers.serving import serving

pytestmark = pytest.mark.long

Json = Any
MODERN, HANDSHAKE = "2026-07-28", "2025-11-25"
# What a child of the gateway inherits.
INHERITED = (
    *("HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER", "LANG", "TMPDIR"),
    *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"),
    *("http_proxy", "https_proxy", "all_proxy", "no_proxy"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"),
    *("NODE_EXTRA_CA_CERTS", "NODE_USE_ENV_PROXY"),
)
# What differs from one moment to the next.
MOMENT = re.compile(
    r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[.\d]*|(Mon|Tue|Wed|Thu|Fri|Sat|Sun) \w{3} \d\d \d{4} [\d:]+|"
    r"taskId\W+[\w-]+|\d\d?:\d\d:\d\d\W[AP]M|\d\d?:\d\d:\d\d.u202f[AP]M"
)
AS_TASK = "simulate-research-query"
PIXEL = bytes.fromhex("89504e470d0a1a0a")
FROG = {"name": "Frog", "entityType": "animal", "observations": ["green"]}
POND = {"name": "Pond", "entityType": "place", "observations": []}
LIVES = {"from": "Frog", "to": "Pond", "relationType": "lives in"}


@dataclass(frozen=True)
class Published:
    """A server, and one call of each of its tools, in an order in which they make sense."""

    name: str
    revision: str
    command: list[str]
    calls: list[tuple[str, Json]]
    env: dict[str, str] = field(default_factory=dict)


CONVERTED = {"source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Kolkata"}
TIME_CALLS: list[tuple[str, Json]] = [
    ("get_current_time", {"timezone": "Asia/Tokyo"}),
    ("convert_time", CONVERTED),
]
MEMORY_CALLS: list[tuple[str, Json]] = [
    ("create_entities", {"entities": [FROG, POND]}),
    ("create_relations", {"relations": [LIVES]}),
    ("add_observations", {"observations": [{"entityName": "Frog", "contents": ["wet"]}]}),
    ("read_graph", {}),
    ("search_nodes", {"query": "frog"}),
    ("open_nodes", {"names": ["Pond"]}),
    ("delete_observations", {"deletions": [{"entityName": "Frog", "observations": ["wet"]}]}),
    ("delete_relations", {"relations": [LIVES]}),
    ("delete_entities", {"entityNames": ["Frog"]}),
]
EVERYTHING_CALLS: list[tuple[str, Json]] = [
    ("echo", {"message": "hi"}),
    ("get-annotated-message", {"messageType": "error", "includeImage": True}),
    ("get-env", {}),
    ("get-resource-links", {"count": 2}),
    ("get-resource-reference", {"resourceType": "Text", "resourceId": 1}),
    ("get-structured-content", {"location": "New York"}),
    ("get-sum", {"a": 2, "b": 3}),
    ("get-tiny-image", {}),
    ("gzip-file-as-resource", {"name": "x", "data": "data:text/plain,hello"}),
    ("trigger-long-running-operation", {"duration": 0.1, "steps": 2}),
    ("simulate-research-query", {"topic": "frogs"}),
    ("toggle-subscriber-updates", {}),
    ("toggle-simulated-logging", {}),
]


def filesystem_calls(folder: Path) -> list[tuple[str, Json]]:
    a, b = str(folder / "a.txt"), str(folder / "b.txt")
    return [
        ("list_allowed_directories", {}),
        ("read_file", {"path": a}),
        ("read_text_file", {"path": a, "head": 1}),
        ("read_media_file", {"path": str(folder / "dot.png")}),
        ("read_multiple_files", {"paths": [a, str(folder / "none.txt")]}),
        ("write_file", {"path": b, "content": "new\n"}),
        ("edit_file", {"path": b, "edits": [{"oldText": "new", "newText": "newer"}]}),
        ("create_directory", {"path": str(folder / "sub")}),
        ("list_directory", {"path": str(folder)}),
        ("list_directory_with_sizes", {"path": str(folder)}),
        ("directory_tree", {"path": str(folder)}),
        ("move_file", {"source": b, "destination": str(folder / "sub" / "c.txt")}),
        ("search_files", {"path": str(folder), "pattern": "**/*.txt"}),
        ("get_file_info", {"path": a}),
    ]


def published_servers(folder: Path, pages: str) -> list[Published]:
    clock = ["mcp-server-time", "--local-timezone", "UTC"]
    fetcher = ["mcp-server-fetch", "--ignore-robots-txt", "--allow-private-ips"]
    fetched: list[tuple[str, Json]] = [("fetch", {"url": f"{pages}/a.txt", "raw": True})]
    files = ["mcp-server-filesystem", str(folder)]
    memory = {"MEMORY_FILE_PATH": str(folder.parent / "memory.jsonl")}
    return [
        Published("time", MODERN, clock, TIME_CALLS),
        Published("fetch", MODERN, fetcher, fetched),
        Published("memory", HANDSHAKE, ["mcp-server-memory"], MEMORY_CALLS, memory),
        Published("filesystem", HANDSHAKE, files, filesystem_calls(folder)),
        Published("everything", HANDSHAKE, ["mcp-server-everything"], EVERYTHING_CALLS),
    ]


def prepared(folder: Path) -> None:
    """The world as it was before anybody called a tool."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "a.txt").write_text("one\ntwo\n")
    (folder / "dot.png").write_bytes(PIXEL)
    (folder.parent / "memory.jsonl").unlink(missing_ok=True)


async def answers(client: RawClient, server: Published) -> dict[str, Json]:
    return {
        tool: comparable(await client.request("tools/call", {"name": tool, "arguments": arguments}))
        for tool, arguments in server.calls
    }


def comparable(response: Json) -> Json:
    """Without its number, who answered, and what only holds for this moment."""
    result = response.get("result", {})
    meta = {k: v for k, v in result.get("_meta", {}).items() if "serverInfo" not in k}
    said = {"result": {**result, "_meta": meta}, "error": response.get("error")}
    return json.loads(MOMENT.sub("then", json.dumps(said)))


@asynccontextmanager
async def directly(server: Published, env: Mapping[str, str]) -> AsyncIterator[RawClient]:
    """In the environment that the gateway gives a child."""
    kept = {key: value for key, value in {**os.environ, **env}.items() if inherits(key)}
    words = [f"{key}={value}" for key, value in {**kept, **server.env}.items()]
    command = ["env", "-i", *words, *server.command]
    async with over_stdio(command, server.revision, checked=False) as client:
        yield client


def inherits(name: str) -> bool:
    return name in INHERITED or name.startswith("LC_")


def mcp_json(servers: list[Published]) -> Json:
    """As a desktop client has it."""
    return {
        "mcpServers": {
            server.name: {
                "command": server.command[0],
                "args": server.command[1:],
                "env": server.env,
            }
            for server in servers
        }
    }


@pytest.mark.timeout(300)
async def test_every_tool_of_five_servers_answers_as_it_does_directly(
    published: Mapping[str, str], tmp_path: Path
) -> None:
    folder = tmp_path / "world" / "files"
    prepared(folder)
    with served_files(folder) as pages:
        servers = published_servers(folder, pages)
        expected = {}
        for server in servers:
            async with directly(server, published) as client:
                listed = await client.result("tools/list")
                assert {tool["name"] for tool in listed["tools"]} == {t for t, _ in server.calls}
                expected[server.name] = await answers(client, server)
        prepared(folder)
        file = tmp_path / "mcp.json"
        file.write_text(json.dumps(mcp_json(servers)))
        async with serving(file, env=published) as running:
            await until_listed(running, *(server.calls[0][0] for server in servers))
            for server in servers:
                async with over_http(running.url, server.revision, checked=False) as client:
                    found = await answers(client, server)
                # Directly it is refused to a client without tasks; through us it is waited for.
                report = found.pop(AS_TASK, None)
                expected[server.name].pop(AS_TASK, None)
                assert found == expected[server.name], server.name
                if report is not None:
                    assert report["result"]["content"][0]["text"].startswith("# Research Report")


async def test_a_desktop_client_s_file_is_served_as_it_is(
    published: Mapping[str, str], tmp_path: Path
) -> None:
    file = tmp_path / ".cursor" / "mcp.json"
    file.parent.mkdir()
    servers = {
        "clock": {"command": "mcp-server-time", "args": ["--local-timezone", "UTC"]},
        "other-clock": {"command": "mcp-server-time", "args": ["--local-timezone", "Asia/Tokyo"]},
        "memory": {"command": "mcp-server-memory", "disabled": True},
    }
    file.write_text(json.dumps({"mcpServers": servers}))
    async with serving(file, env=published) as running, over_http(running.url, MODERN) as client:
        await until_listed(running, "convert_time", "other-clock_convert_time")
        listed = [tool["name"] for tool in (await client.result("tools/list"))["tools"]]
        assert sorted(listed) == [
            *("convert_time", "get_current_time"),
            *("other-clock_convert_time", "other-clock_get_current_time"),
        ]
        for name in ("get_current_time", "other-clock_get_current_time"):
            result = await client.call(name, {"timezone": "Asia/Tokyo"})
            assert result["structuredContent"]["timezone"] == "Asia/Tokyo"
