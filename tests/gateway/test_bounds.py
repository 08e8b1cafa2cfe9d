"""Hostile registries and hostile results: bounded, while others are served."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any

import pytest

from tests.attacks.memory import processor_seconds
from tests.gateway.yard import ECHO, Yard
from tests.peers.raw import MODERN
from tests.peers.raw_http import HttpClient, over_http
from tests.peers.serving import serving
from tests.until import until

pytestmark = pytest.mark.long

Json = Any


def nested(levels: int, width: int) -> str:
    """A document of that depth, with some million nodes in it, as text."""
    wide = "[" + ",".join(['{"a":1}'] * width) + "]"
    return '{"a":' * levels + wide + "}" * levels


def tool(name: str, path: str, **more: Json) -> Json:
    schema = {"type": "object", "properties": {"x": {"source_field": path}}}
    return {"name": name, "server": "u", "originalName": "huge", "outputSchema": schema, **more}


PATHS = {
    "everything below": "$..a",
    "twice below": "$..[*]..a",
    "a filter over all": "$..[?@.a == 1]",
    "a filter in a filter": "$..[?@..[?@.a == 1]]",
}


@pytest.mark.parametrize("path", PATHS.values(), ids=PATHS)
async def test_a_million_nodes_are_not_walked_and_others_are_served_meanwhile(
    yard: Yard, path: str
) -> None:
    huge = {"content": [{"type": "text", "text": nested(60, 333_000)}]}
    servers = [yard.upstream("u", {"name": "huge", "result": huge}), yard.upstream("v", ECHO)]
    yard.registry(servers=servers, tools=[tool("t", path), {"name": "echo", "server": "v"}])
    async with serving(yard.file, "--no-page") as server, over_http(server.url, MODERN) as client:
        await client.call("echo", {})
        hostile = asyncio.create_task(client.call("t", {}, within=60))
        answered, slowest = await served_meanwhile(client, hostile)
        result = await hostile
    assert result["isError"]
    assert "100,000" in result["content"][0]["text"] or "nodes" in result["content"][0]["text"]
    assert answered > 0
    print(f"{path}: {answered} calls meanwhile, the slowest {slowest * 1000:.0f} ms")


async def served_meanwhile(client: HttpClient, hostile: asyncio.Task[Json]) -> tuple[int, float]:
    answered, slowest = 0, 0.0
    while not hostile.done():
        began = time.perf_counter()
        result = await client.call("echo", {"n": answered})
        assert result["content"][0]["text"] == json.dumps({"n": answered})
        slowest = max(slowest, time.perf_counter() - began)
        answered += 1
    return answered, slowest


async def test_a_document_that_is_nested_too_deeply_is_refused(yard: Yard) -> None:
    deep = {"content": [{"type": "text", "text": nested(80, 1)}]}
    yard.registry(
        servers=[yard.upstream("u", {"name": "huge", "result": deep})], tools=[tool("t", "$..a")]
    )
    async with serving(yard.file, "--no-page") as server, over_http(server.url, MODERN) as client:
        result = await client.call("t", {})
    assert result["isError"]
    assert "64 levels" in result["content"][0]["text"]


@pytest.mark.parametrize(
    "path",
    [
        "$[",
        "$..",
        "$.a[?@.b ~ 'x']",
        "$[?" + "(" * 500 + "@.a" + ")" * 500 + "]",
        "a.b",
        "$" + ".a" * 5000,
    ],
)
async def test_a_hostile_path_is_refused_or_runs_within_its_bounds(yard: Yard, path: str) -> None:
    small = {"content": [{"type": "text", "text": '{"a": 1}'}]}
    good = {"name": "good", "server": "u", "originalName": "huge"}
    yard.registry(servers=[yard.upstream("u", {"name": "huge", "result": small})], tools=[good])
    async with serving(yard.file, "--no-page") as server, over_http(server.url, MODERN) as client:
        await client.result("tools/list")
        content = json.loads(yard.file.read_text())
        yard.write("registry.json", {**content, "tools": [good, tool("t", path)]})

        async def refused_or_loaded() -> bool:
            return "source_field" in server.errors or await loaded(client)

        await until(refused_or_loaded)
        assert (await client.call("good", {}))["content"][0]["text"] == '{"a": 1}'


async def loaded(client: HttpClient) -> bool:
    names: list[str] = [tool["name"] for tool in (await client.result("tools/list"))["tools"]]
    return "t" in names


# What a pattern may take at most by itself is not enough: the text may be long, or one of many.
SLOW = {
    "a long text": ({"pattern": "(?!x)a*b"}, "a" * 500_000),
    "many texts": ({"contains": {"pattern": "^(?:(a|a)*)*(?!b)c$"}}, ["a" * 16] * 10_000),
}
STEPS = "takes too many steps to match against the pattern"


@pytest.mark.parametrize(("part", "value"), SLOW.values(), ids=SLOW)
async def test_a_pattern_that_backtracks_is_given_up_soon_for_arguments_and_results(
    yard: Yard, part: Json, value: Json
) -> None:
    schema = {"type": "object", "properties": {"v": part}}
    result = {"content": [], "structuredContent": {"v": value}}
    servers = [
        yard.upstream(
            "u", {"name": "asks", "inputSchema": schema}, ECHO, expose="all", validate=True
        ),
        yard.upstream("v", {"name": "gives", "inputSchema": {}, "result": result}),
    ]
    gives = {"name": "gives", "server": "v", "outputSchema": schema}
    yard.registry(servers=servers, tools=[gives])
    async with serving(yard.file, "--no-page") as server, over_http(server.url, MODERN) as client:
        await client.call("echo", {})
        began = processor_seconds(server.process.pid)
        answers = [await client.call("asks", {"v": value}), await client.call("gives", {})]
        took = processor_seconds(server.process.pid) - began
    for answer in answers:
        assert answer["isError"]
        assert STEPS in answer["content"][0]["text"]
    assert took < 5


async def test_a_pattern_may_look_around_beside_a_long_text(yard: Yard) -> None:
    path = {"type": "string", "pattern": r"^(?!/)[\w./-]+$"}
    schema = {"type": "object", "properties": {"path": path}}
    yard.registry(
        servers=[
            yard.upstream(
                "u", {"name": "write", "inputSchema": schema}, expose="all", validate=True
            )
        ]
    )
    async with serving(yard.file, "--no-page") as server, over_http(server.url, MODERN) as client:
        text = "long " * 400_000
        written = await client.call("write", {"path": "a/b.txt", "text": text})
        refused = await client.call("write", {"path": "/etc/passwd", "text": text})
    assert json.loads(written["content"][0]["text"]) == {"path": "a/b.txt", "text": text}
    assert refused["isError"]
    assert "/path" in refused["content"][0]["text"]
