"""The showcase as `make demo` serves it, with the official SDK's client."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp.client import Client

from tests.cli.program import toolyard
from tests.gateway.listed import until_listed
from tests.peers.serving import ROOT, Listening, copied, serving

pytestmark = pytest.mark.long

SHOWCASE = ROOT / "examples" / "showcase"
README = (ROOT / "README.md").read_text()
SECRET = "s3cr3t-of-the-showcase"


@asynccontextmanager
async def showcase(env: Mapping[str, str], folder: Path) -> AsyncIterator[Listening]:
    more = {"SHOWCASE_MEMORY": str(folder / "memory.jsonl"), "SHOWCASE_KEY": SECRET}
    with copied(SHOWCASE) as project:
        async with serving(project, env={**env, **more}) as server:
            yield server


async def elicited(context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
    assert params.message.startswith("A table at Chez Nous")
    return types.ElicitResult(action="accept", content={"hour": "19:30", "people": 4})


async def structured(client: Client, tool: str, **arguments: Any) -> Any:
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    if result.structured_content is not None:
        return result.structured_content
    return json.loads(result.content[0].text)  # type: ignore[union-attr]  # a list, of old


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_every_feature_of_the_showcase_works(
    published: Mapping[str, str], tmp_path: Path, mode: str
) -> None:
    async with (
        showcase(published, tmp_path) as server,
        Client(server.url, mode=mode, elicitation_callback=elicited) as client,
    ):
        shown = ("time_in", "world_clock", "read_page", "every_echo", "book_table")
        await until_listed(server, *shown)
        names = {tool.name for tool in (await client.list_tools()).tools}
        assert names.issuperset(shown)
        assert not {"get_current_time", "time_in_london", "station", "reading_list"} & names
        await virtual_tools(client)
        await composed_tools(client)
        await servers_as_they_are(client)
        booked = await client.call_tool("book_table", {"restaurant": "Chez Nous"})
        assert booked.content[0].text == "A table for 4 at Chez Nous, 19:30."  # type: ignore[union-attr]
        said = json.dumps([tool.model_dump() for tool in (await client.list_tools()).tools])
        assert SECRET not in said + server.errors


async def virtual_tools(client: Client) -> None:
    assert set(await structured(client, "time_in", timezone="Asia/Tokyo")) == {
        "zone",
        "time",
        "weekday",
    }
    assert (await structured(client, "time_in_tokyo"))["zone"] == "Asia/Tokyo"
    refused = await client.call_tool("time_in_tokyo", {"timezone": "Europe/Paris"})
    assert refused.is_error
    weather = await structured(client, "weather", city="Paris")
    assert (weather["city"], len(weather["highs"])) == ("Paris", 3)
    words = await structured(client, "weather_in_words", city="Paris")
    assert words["sentence"].startswith(f"{weather['celsius']} degrees in Paris, ")
    books = await structured(client, "books")
    assert books["best"] == "The Sea and its Maps"
    assert books["all"][0] == {
        "title": "The Sea and its Maps",
        "author": "Ada Lind",
        "votes": 1204,
    }


async def composed_tools(client: Client) -> None:
    clock = await structured(client, "world_clock")
    assert [one["zone"] for one in clock] == ["America/New_York", "Asia/Tokyo", "Europe/London"]
    cities = ["Oslo", "Rome", "Lima", "Cairo", "Paris"]
    every = {city: await structured(client, "weather", city=city) for city in cities}
    found = await structured(client, "warm_cities", cities=cities)
    expected = [every[city] for city in cities if every[city]["celsius"] >= 15]
    assert found == expected
    briefing = await structured(client, "briefing", city="Rome", timezone="Europe/Rome")
    assert (briefing["city"], briefing["celsius"]) == ("Rome", every["Rome"]["celsius"])


async def servers_as_they_are(client: Client) -> None:
    thing = {"name": "Toolyard", "entityType": "program", "observations": ["serves tools"]}
    await structured(client, "remember", entities=[thing])
    recalled = await structured(client, "recall", query="Toolyard")
    assert recalled == {"things": [{"name": "Toolyard", "known": ["serves tools"]}]}
    note = await client.call_tool("notes_read_text_file", {"path": "packing.md"})
    assert "the good boots" in note.content[0].text  # type: ignore[union-attr]
    echo = await client.call_tool("every_echo", {"message": "hi"})
    assert echo.content[0].text == "Echo: hi"  # type: ignore[union-attr]
    prompts = {prompt.name for prompt in (await client.list_prompts()).prompts}
    assert "every_simple-prompt" in prompts
    resource = (await client.list_resources()).resources[0]
    assert (await client.read_resource(resource.uri)).contents


async def test_without_its_servers_the_showcase_serves_the_rest(tmp_path: Path) -> None:
    async with (
        showcase({"PATH": "/usr/bin:/bin"}, tmp_path) as server,
        Client(server.url) as client,
    ):
        assert (await structured(client, "weather", city="Rome"))["city"] == "Rome"
        failed = await client.call_tool("time_in", {"timezone": "UTC"})
        assert failed.is_error
        assert "no program named mcp-server-time" in failed.content[0].text  # type: ignore[union-attr]


async def test_the_address_is_printed_at_once(tmp_path: Path) -> None:
    async with asyncio.timeout(60), showcase({"PATH": "/usr/bin:/bin"}, tmp_path) as server:
        assert "Toolyard showcase" in server.stderr[0]


def test_a_virtual_tool_costs_a_model_what_the_readme_says(
    published: Mapping[str, str], tmp_path: Path
) -> None:
    with copied(SHOWCASE) as project:
        env = {**published, "SHOWCASE_MEMORY": str(tmp_path / "memory.jsonl")}
        tokens: Any = {"source": 0}
        while not tokens["source"]:  # the server was too slow to start
            done = toolyard("registry", "show", "read_page", "--json", cwd=project, env=env)
            tokens = done.json["tokens"]
    row = f"| what a model reads | {tokens['source']} tokens | {tokens['client']} tokens |"
    before, after = re.findall(r"\| what a model reads \| (\d+) tokens \| (\d+) tokens \|", README)[
        0
    ]
    assert (int(before), int(after)) == (tokens["source"], tokens["client"]), row
