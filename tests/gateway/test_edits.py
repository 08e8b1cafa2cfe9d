"""Editing the registry while it is served: whole, atomic, and nobody's call is lost."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from tests.gateway.test_endpoints import get
from tests.gateway.yard import ECHO, Yard
from tests.peers.raw import MODERN
from tests.peers.raw_http import HttpClient, over_http
from tests.peers.serving import serving
from tests.until import until

pytestmark = pytest.mark.long

Json = Any
SLOW = {"name": "slow", "inputSchema": {"type": "object"}, "seconds": 0.4}


def edition(yard: Yard, number: int) -> Json:
    """A tool whose hidden argument and whose result both say which edition they are of."""
    schema = {"type": "object", "properties": {f"e{number}": {"source_field": "$.edition"}}}
    tool = {
        "name": "t",
        "server": "u",
        "originalName": "slow",
        "description": f"edition {number}",
        "defaults": {"edition": number},
        "outputSchema": schema,
    }
    server = yard.upstream("u", SLOW)
    # Now and then another command too: the calls on the old one go on to their end.
    server["env"] = {"GENERATION": str(number // 3)}
    return {"servers": [server], "tools": [tool]}


async def described(client: HttpClient) -> str:
    tools = (await client.result("tools/list"))["tools"]
    return str(tools[0]["description"]) if tools else ""


async def test_no_call_fails_or_sees_a_mixture_while_the_registry_is_edited(yard: Yard) -> None:
    yard.write("registry.json", edition(yard, 0))
    async with serving(yard.file) as server, over_http(server.url, MODERN) as client:
        await client.result("tools/list")
        flying: set[asyncio.Task[Json]] = set()
        results: list[Json] = []

        def fly() -> None:
            task = asyncio.create_task(client.call("t", {}))
            flying.add(task)

        editing = asyncio.create_task(editions(yard, client, results))
        while not editing.done():
            while len(flying) < 100:
                fly()
            done, flying = await asyncio.wait(flying, return_when=asyncio.FIRST_COMPLETED)
            results += [task.result() for task in done]
        await editing
        results += await asyncio.gather(*flying)
    seen = set()
    for result in results:
        assert not result.get("isError"), result
        ((name, number),) = result["structuredContent"].items()
        assert name == f"e{number}"
        seen.add(number)
    assert len(results) >= 200
    assert len(seen) >= 3


async def come_back(results: list[Json], more: int) -> None:
    enough = len(results) + more
    await until(lambda: len(results) >= enough)


async def editions(yard: Yard, client: HttpClient, results: list[Json]) -> None:
    """One after the other, each once some calls of the one before have come back."""
    for number in range(1, 7):
        await come_back(results, 40)
        yard.write("registry.json", edition(yard, number))

        async def there(number: int = number) -> bool:
            return await described(client) == f"edition {number}"

        await until(there)


async def test_a_wrong_edit_changes_nothing_and_says_why(yard: Yard) -> None:
    good = {"servers": [yard.upstream("u", ECHO)], "tools": [{"name": "echo", "server": "u"}]}
    yard.write("registry.json", good)
    async with serving(yard.file) as server, over_http(server.url, MODERN) as client:
        before = await client.result("tools/list")
        wrong = {**good, "tools": [*good["tools"], {"name": "echo", "server": "uu"}]}

        async def refused() -> bool:
            told: str = json.loads((await get(server, "/status"))[1])["registry"]
            return told == "refused"

        for text in (json.dumps(wrong), "{", ""):
            yard.write("registry.json", text)
            await until(refused)
            assert await client.result("tools/list") == before
            assert (await client.call("echo", {"a": 1}))["content"][0]["text"] == '{"a": 1}'
        assert "/tools/1/server" in server.errors
        assert 'did you mean "u"?' in server.errors
        assert 'a tool named "echo" is already at /tools/0' in server.errors
        yard.write(
            "registry.json",
            {**good, "tools": [{"name": "e", "server": "u", "originalName": "echo"}]},
        )

        async def renamed() -> bool:
            tools = (await client.result("tools/list"))["tools"]
            names: list[str] = [tool["name"] for tool in tools]
            return names == ["e"]

        await until(renamed)
        assert not await refused()


async def test_an_edit_with_a_mistake_in_one_entry_disables_that_one(yard: Yard) -> None:
    good = {"servers": [yard.upstream("u", ECHO)], "tools": [{"name": "echo", "server": "u"}]}
    yard.write("registry.json", good)
    async with serving(yard.file) as server, over_http(server.url, MODERN) as client:
        await client.result("tools/list")
        more = [{"name": "late", "server": "u", "originalName": "echo"}, {"name": "x", "source": 1}]
        yard.write("registry.json", {**good, "tools": [*good["tools"], *more]})

        async def there() -> bool:
            tools = (await client.result("tools/list"))["tools"]
            return [tool["name"] for tool in tools] == ["echo", "late"]

        await until(there)
        said = "must be a string that is not empty (/tools/2/source)"
        told = await client.call("x", {})
        assert told["isError"] and said in told["content"][0]["text"]
        assert f"tool x is disabled: {said}" in server.errors
        assert json.loads((await get(server, "/status"))[1])["registry"] != "refused"


async def test_clients_are_told_when_the_tools_have_changed(yard: Yard) -> None:
    yard.write("registry.json", edition(yard, 0))
    async with serving(yard.file) as server, over_http(server.url, MODERN) as client:
        await client.result("tools/list")
        await client.subscribe(toolsListChanged=True)
        yard.write("registry.json", edition(yard, 1))
        await client.notification("notifications/tools/list_changed")
        assert await described(client) == "edition 1"


@pytest.mark.parametrize("name", ["u", "v"])
async def test_a_server_that_is_taken_out_is_stopped(yard: Yard, name: str) -> None:
    servers = [yard.upstream("u", ECHO), yard.upstream("v", ECHO)]
    tools = [
        {"name": f"e{one['name']}", "server": one["name"], "originalName": "echo"}
        for one in servers
    ]
    yard.write("registry.json", {"servers": servers, "tools": tools})
    async with serving(yard.file) as server, over_http(server.url, MODERN) as client:
        await client.call("eu", {})
        await client.call("ev", {})
        kept = [one for one in servers if one["name"] != name]
        yard.write(
            "registry.json", {"servers": kept, "tools": [t for t in tools if t["server"] != name]}
        )

        async def alone() -> bool:
            told = json.loads((await get(server, "/status"))[1])
            return [one["name"] for one in told["servers"]] == [one["name"] for one in kept]

        await until(alone)

        async def unknown() -> bool:
            # The servers go first, then the list that names their tools.
            response = await client.request("tools/call", {"name": f"e{name}"})
            return bool(response.get("error", {}).get("code") == -32602)

        await until(unknown)
