"""Integers beyond 64 bits: exact on every way through, and the end of nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.gateway.yard import ECHO, Yard
from tests.peers.raw import MODERN, over_stdio
from tests.peers.raw_http import over_http
from tests.peers.serving import serving, toolyard

pytestmark = pytest.mark.long

Json = Any
HUGE = 10**30
NUMBERS = {
    "65 bits": 2**64,
    "below": -(2**63) - 1,
    "30 digits": HUGE,
    "negative": -HUGE,
    "beyond any float": 10**4000,
}


def with_maximum(number: int) -> Json:
    schema = {"type": "object", "properties": {"n": {"type": "integer", "maximum": number}}}
    return {"name": "huge", "inputSchema": schema, "outputSchema": schema}


async def listed(client: Any) -> dict[str, Json]:
    tools = (await client.result("tools/list"))["tools"]
    return {tool["name"]: tool for tool in tools}


@pytest.mark.parametrize("revision", ["2025-06-18", MODERN])
async def test_a_huge_integer_in_a_listing_is_listed_as_it_is(yard: Yard, revision: str) -> None:
    huge = with_maximum(HUGE)
    yard.registry(servers=[yard.upstream("u", huge, ECHO, expose="all")])
    for start in ("first", "from what was kept"):
        async with serving(yard.file, "--no-page") as server, over_http(server.url, revision) as c:
            assert (await listed(c))["huge"]["inputSchema"] == huge["inputSchema"], start
            assert not (await c.call("echo", {"n": HUGE})).get("isError")


async def test_a_huge_integer_that_comes_while_serving_stops_no_later_change(yard: Yard) -> None:
    yard.registry(servers=[yard.upstream("u", ECHO, expose="all")])
    async with serving(yard.file, "--no-page") as server, over_http(server.url, MODERN) as client:
        await client.subscribe(toolsListChanged=True)
        assert set(await listed(client)) == {"echo"}
        servers = [yard.upstream("u", ECHO, expose="all")]
        for name, tool in (("v", with_maximum(HUGE)), ("w", {"name": "third"})):
            servers.append(yard.upstream(name, tool, expose="all"))
            yard.registry(servers=servers)
            await client.notification("notifications/tools/list_changed")
        assert set(await listed(client)) == {"echo", "huge", "third"}


@pytest.mark.parametrize("number", NUMBERS.values(), ids=NUMBERS)
async def test_arguments_results_and_ids_keep_every_digit(yard: Yard, number: int) -> None:
    given = {"content": [], "structuredContent": {"n": number}}
    yard.registry(servers=[yard.upstream("u", ECHO, {"name": "gives", "result": given})])
    tools: list[Json] = [{"name": name, "server": "u"} for name in ("echo", "gives")]
    schema = {
        "type": "object",
        "properties": {"n": {"type": "integer", "source_field": "$.n"}},
    }
    tools.append({"name": "made", "server": "u", "originalName": "gives", "outputSchema": schema})
    yard.registry(**{**json.loads(yard.file.read_text()), "tools": tools})
    async with over_stdio(toolyard("serve", yard.file), "2025-06-18", checked=False) as client:
        echoed = await client.call("echo", {"n": number})
        assert json.loads(echoed["content"][0]["text"]) == {"n": number}
        assert (await client.call("gives", {}))["structuredContent"] == {"n": number}
        assert (await client.call("made", {}))["structuredContent"] == {"n": number}
        answer = await client.request("ping", id=number)
        assert answer == {"jsonrpc": "2.0", "id": number, "result": {}}


async def test_a_script_prints_huge_integers(yard: Yard) -> None:
    yard.script("gives", f"printf '%s' '{{\"n\": {HUGE}}}'", outputSchema={"type": "object"})
    program = toolyard("serve", yard.root)
    async with over_stdio(program, "2025-06-18", checked=False) as client:
        assert (await client.call("gives", {}))["structuredContent"] == {"n": HUGE}


async def test_a_registry_file_may_hold_huge_integers(yard: Yard) -> None:
    tool = {"name": "t", "server": "u", "originalName": "echo", "defaults": {"n": HUGE}}
    yard.registry(servers=[yard.upstream("u", ECHO)], tools=[tool])
    async with serving(yard.file, "--no-page") as server, over_http(server.url, MODERN) as client:
        echoed = await client.call("t", {})
        assert json.loads(echoed["content"][0]["text"]) == {"n": HUGE}
