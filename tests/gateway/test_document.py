"""The registry document's own examples, run as printed.

`uvx` and `npx` are stand-ins that start the same servers where they are installed, and servers
of the internet are replaced by local ones; nothing else of an example is changed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from mcp.client import Client

from tests.cli.program import toolyard
from tests.gateway.pages import served_files
from tests.gateway.yard import Yard
from tests.peers.raw import MODERN
from tests.peers.raw_http import over_http
from tests.peers.serving import ROOT, serving

DOCUMENT = next((ROOT.parent / "shared" / "seeds").glob("002_*.txt"), None)
pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(DOCUMENT is None, reason="the document is not here"),
]
DOCS = "https://docs.mcp.cloudflare.com/mcp"
REPOSITORIES = {
    "total_count": 2,
    "incomplete_results": False,
    "items": [
        {"full_name": "a/x", "stargazers_count": 7, "owner": {"login": "a"}},
        {"full_name": "b/y", "stargazers_count": 0, "owner": {"login": "b"}},
    ],
}
SEARCH_REPOSITORIES = {
    "name": "search_repositories",
    "inputSchema": {
        "type": "object",
        "properties": {name: {"type": "string"} for name in ("query", "visibility", "sort")},
        "required": ["query"],
    },
    "result": {"content": [{"type": "text", "text": json.dumps(REPOSITORIES)}]},
}


def printed(heading: str, number: int = 0) -> str:
    """The example in the section of that heading."""
    assert DOCUMENT is not None
    section = DOCUMENT.read_text().split(f"{heading}\n", 1)[1].split("\n## ")[0]
    return section.split("```json\n")[1 + number].split("```")[0]


@pytest.fixture
def environment(published: Mapping[str, str], tmp_path: Path) -> Mapping[str, str]:
    """Where `uvx mcp-server-x` and `npx -y @scope/server-x` start the installed servers."""
    folder = tmp_path / "bin"
    folder.mkdir()
    # The fetching server is let on the loopback interface, which is all the internet there is.
    loopback = '[ "$1" = mcp-server-fetch ] && set -- "$@" --allow-private-ips\n'
    for name, body in (("uvx", f'{loopback}exec "$@"'), ("npx", 'exec "mcp-${2##*/}"')):
        program = folder / name
        program.write_text(f"#!/bin/sh\n{body}\n")
        program.chmod(0o755)
    return {**published, "PATH": f"{folder}{os.pathsep}{published['PATH']}"}


@pytest.mark.parametrize(
    "heading",
    ["### Local Stdio Server", "### Remote HTTP Server", "### OAuth-Protected Server"],
)
def test_each_server_of_the_document_is_understood(yard: Yard, heading: str) -> None:
    yard.registry(servers=[json.loads(printed(heading))])
    told = toolyard("registry", "check", "--json", "--registry", yard.file).json
    assert (told["ok"], told["servers"]) == (True, 1)


async def test_the_first_example_fetches_by_both_names(
    yard: Yard, environment: Mapping[str, str]
) -> None:
    yard.write("registry.json", printed("## Schema Structure"))
    page = yard.write("page.txt", "Hello from the page.")
    env = {**environment, "API_KEY": "k"}
    with served_files(page.parent) as origin:
        async with serving(yard.file, env=env) as server, Client(server.url) as client:
            names = [tool.name for tool in (await client.list_tools()).tools]
            assert names == ["fetch", "get_webpage"]
            for name in names:
                result = await client.call_tool(name, {"url": f"{origin}/page.txt"})
                assert "Hello from the page." in result.content[0].text  # type: ignore[union-attr]


async def test_the_showcase_of_the_document_is_served(
    yard: Yard, environment: Mapping[str, str], tmp_path: Path
) -> None:
    docs = Yard(tmp_path / "docs")
    found = "echo '[\"workers\"]'"
    docs.script("search_cloudflare_documentation", found, description="Searches the documentation")
    schema = '{"type": "object", "properties": {"now": {"source_field": "$.datetime"}}}'
    async with serving(docs.root) as local:
        text = printed("## Example: showcase.json").replace("{...}", schema)
        yard.write("registry.json", text.replace(DOCS, local.url))
        async with serving(yard.file, env=environment) as server, Client(server.url) as client:
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            assert list(tools) == [
                tool["name"] for tool in json.loads(yard.file.read_text())["tools"]
            ]
            assert tools["get_webpage"].description == "Renamed fetch tool"
            now = await client.call_tool("get_time_structured", {"timezone": "UTC"})
            assert set(now.structured_content or {}) == {"now"}
            graph = await client.call_tool("read_graph", {})
            assert graph.structured_content == {"entities": [], "relations": []}
            searched = await client.call_tool("search_cloudflare_docs", {})
            assert "workers" in searched.content[0].text  # type: ignore[union-attr]


async def repositories(yard: Yard, heading: str) -> Any:
    """The example over a local server that knows `search_repositories`."""
    example = json.loads(printed(heading))
    base = {"name": "search_repositories", "server": "local"}
    yard.registry(servers=[yard.upstream("local", SEARCH_REPOSITORIES)], tools=[base, example])
    async with serving(yard.file) as server, over_http(server.url, MODERN) as client:
        listed = {tool["name"]: tool for tool in (await client.result("tools/list"))["tools"]}
        return listed[example["name"]], await client.call(example["name"], {"query": "x"})


async def test_the_projection_of_the_document(yard: Yard) -> None:
    tool, result = await repositories(yard, "### Output Schema Projection")
    assert result["structuredContent"] == {
        "total": 2,
        "repos": [{"name": "a/x", "stars": 7}, {"name": "b/y", "stars": 0}],
    }
    assert "source_field" not in json.dumps(tool)


async def test_the_hidden_defaults_of_the_document(yard: Yard) -> None:
    tool, _ = await repositories(yard, "### Hidden Defaults")
    assert set(tool["inputSchema"]["properties"]) == {"query"}
    assert yard.calls() == [
        ["local", "search_repositories", {"query": "x", "visibility": "public", "sort": "stars"}]
    ]


@pytest.mark.parametrize("number", [0, 1])
async def test_the_old_format_and_its_migration_are_the_same(
    yard: Yard, environment: Mapping[str, str], number: int
) -> None:
    text = printed("## Migration from Old Format", number).replace("{...}", '{"type": "object"}')
    yard.write("registry.json", text)
    async with serving(yard.file, env=environment) as server, Client(server.url) as client:
        (tool,) = (await client.list_tools()).tools
        assert (tool.name, tool.input_schema) == ("fetch", {"type": "object"})
