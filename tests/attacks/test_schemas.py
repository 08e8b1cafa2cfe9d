"""Hostile schemas: their work is counted before it is done, and a disabled tool says why."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any

import pytest

from tests.attacks.memory import MIB, peak, resident
from tests.gateway.yard import ECHO, Yard
from tests.peers.raw import MODERN
from tests.peers.raw_http import over_http
from tests.peers.serving import serving
from toolyard.catalog.costs import MAX_SCHEMA_BYTES
from toolyard.catalog.validation import checker_or_reason, compile_checker

pytestmark = pytest.mark.long

Json = Any
STEPS = "too many steps"


def unfolding(levels: int, width: int, how: str) -> Json:
    """Each level refers to the next one that often."""

    def level(number: int) -> Json:
        refs = [{"$ref": f"#/$defs/l{number + 1}"} for _ in range(width)]
        if how == "properties":
            return {"properties": {f"p{n}": ref for n, ref in enumerate(refs)}}
        if how == "the same property":
            return {"allOf": [{"properties": {"p": ref}} for ref in refs]}
        return {how: refs}

    defs = {f"l{number}": level(number) for number in range(levels)}
    defs[f"l{levels}"] = {"type": "object"}
    return {"type": "object", "$defs": defs, "$ref": "#/$defs/l0"}


BOMBS = {how: unfolding(20, 10, how) for how in ("allOf", "anyOf", "oneOf")}
BOMBS["by anchors"] = json.loads(
    json.dumps(unfolding(20, 10, "allOf"))
    .replace('"#/$defs/', '"#')
    .replace('{"allOf"', '{"$anchor": "X", "allOf"')
)
for _name, _def in BOMBS["by anchors"]["$defs"].items():
    _def["$anchor"] = _name
BOMBS["by ids"] = json.loads(
    json.dumps(unfolding(20, 10, "allOf")).replace('"#/$defs/', '"https://example.com/')
)
for _name, _def in BOMBS["by ids"]["$defs"].items():
    _def["$id"] = f"https://example.com/{_name}"
BOMBS["a long chain"] = unfolding(2000, 1, "allOf")


@pytest.mark.parametrize("bomb", BOMBS)
def test_a_reference_bomb_is_counted_and_not_run(bomb: str) -> None:
    began = time.process_time()
    wrong = checker_or_reason(BOMBS[bomb])({})
    assert wrong is not None
    assert "unfold to over 10000 steps" in wrong
    assert time.process_time() - began < 2


def test_a_bomb_on_the_way_down_is_counted_for_the_value_that_sets_it_off() -> None:
    check = compile_checker(unfolding(20, 10, "the same property"))
    deep: Json = {}
    for _ in range(20):
        deep = {"p": deep}
    assert check({"p": {"p": {}}}) is None
    began = time.process_time()
    assert STEPS in (check(deep) or "")
    assert time.process_time() - began < 2


def test_a_schema_that_multiplies_within_itself_is_counted_for_each_value() -> None:
    again = {"$ref": "#"}
    check = compile_checker({"anyOf": [{"items": again}, {"items": again}, {"items": again}]})
    deep: Json = []
    for _ in range(60):
        deep = [deep]
    assert check([[], [[]]]) is None
    assert STEPS in (check(deep) or "")


FINE = {
    "many properties of one kind": (
        unfolding(20, 10, "properties"),
        {f"p{n}": {f"p{m}": {"p0": {}} for m in range(10)} for n in range(10)},
    ),
    "a tree": (
        {
            "$ref": "#/$defs/node",
            "$defs": {
                "node": {
                    "type": "object",
                    "properties": {
                        "left": {"$ref": "#/$defs/node"},
                        "right": {"$ref": "#/$defs/node"},
                        "all": {"type": "array", "items": {"$ref": "#/$defs/node"}},
                    },
                }
            },
        },
        {"left": {"left": {}, "all": [{}] * 1000}, "right": {"all": [{"left": {}}] * 1000}},
    ),
    "itself": ({"$ref": "#"}, {"a": [1]}),
    "a circle of two": (
        {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}},
        {},
    ),
    "a long list of choices": ({"enum": [f"choice {n}" for n in range(20_000)]}, "choice 19999"),
}


@pytest.mark.parametrize("what", FINE)
def test_what_is_large_and_harmless_is_checked_as_ever(what: str) -> None:
    schema, value = FINE[what]
    assert compile_checker(schema)(value) is None


def test_a_recursive_schema_still_refuses_what_is_wrong() -> None:
    schema, _ = FINE["a tree"]
    assert "object" in (compile_checker(schema)({"left": {"right": 1}}) or "")


async def test_a_bomb_under_virtual_tools_disables_them_with_the_reason(yard: Yard) -> None:
    bomb = {"name": "bomb", "inputSchema": unfolding(20, 10, "allOf")}
    virtual: dict[str, Json] = {
        "with defaults": {"defaults": {"a": 1}},
        "with hidden fields": {"hideFields": ["a"]},
        "with a schema of its own": {"inputSchema": {"type": "object", "properties": {}}},
    }
    tools = [
        {"name": name.replace(" ", "_"), "server": "u", "originalName": "bomb", **more}
        for name, more in virtual.items()
    ]
    servers = [yard.upstream("u", bomb, expose="all"), yard.upstream("v", ECHO, expose="all")]
    yard.registry(servers=servers, tools=tools)
    async with serving(yard.file, "--no-page") as server, over_http(server.url, MODERN) as client:
        names = [tool["name"] for tool in (await client.result("tools/list"))["tools"]]
        assert names == ["bomb", "echo"]
        for tool in tools:
            answer = await client.call(tool["name"], {})
            assert "unfold to over 10000 steps" in answer["content"][0]["text"]
        async with asyncio.timeout(10):
            await client.request("tools/call", {"name": "bomb", "arguments": {}})
        assert not (await client.call("echo", {})).get("isError")
        assert "tool with_defaults is disabled" in server.errors
        server.process.terminate()
        async with asyncio.timeout(10):
            await server.process.wait()


async def test_a_schema_of_8_megabytes_costs_no_gigabytes(yard: Yard) -> None:
    parts = [{"type": "string", "pattern": f"^a{n}$", "title": "x" * 20} for n in range(120_000)]
    schema = {"type": "object", "properties": {f"p{n}": part for n, part in enumerate(parts)}}
    huge = {"name": "huge", "inputSchema": schema}
    # Changed by the file, so that it is ours to check.
    tool = {"name": "t", "server": "u", "originalName": "huge", "defaults": {"p0": "a0"}}
    yard.registry(servers=[yard.upstream("u", huge, ECHO)], tools=[tool])
    async with serving(yard.file, "--no-page") as server, over_http(server.url, MODERN) as client:
        before = resident(server.process.pid)
        answer = await client.call("t", {})
        assert f"may have {MAX_SCHEMA_BYTES}" in answer["content"][0]["text"]
        assert peak(server.process.pid) - before < 250 * MIB


LINEAR = {
    "dense": "(?:a|b)*a(?:a|b){1300}c",
    "repeated": "^(?:[ab]{1,90}){1,90}$",
    "long": "[ab]{12000}[bc]",
}


@pytest.mark.parametrize("pattern", LINEAR)
def test_a_linear_pattern_on_200_kb_is_bounded_by_its_cost(pattern: str) -> None:
    schema = {"type": "object", "properties": {"v": {"pattern": LINEAR[pattern]}}}
    check = compile_checker(schema)
    check({"v": "ab" * 10})
    began = time.process_time()
    assert STEPS in (check({"v": "abba" * 50_000}) or "")
    assert time.process_time() - began < 1


def test_a_pattern_is_no_reason_to_refuse_a_long_text_beside_it() -> None:
    title = {"type": "string", "pattern": "^.{1,255}$"}
    schema = {"type": "object", "properties": {"title": title, "text": {"type": "string"}}}
    check = compile_checker(schema)
    assert check({"title": "ok", "text": "x" * 5_000_000}) is None
    assert check({"title": "", "text": "x" * 5_000_000}) is not None
    encoded = {"properties": {"image": {"pattern": "^[A-Za-z0-9+/]*={0,2}$"}}}
    assert compile_checker(encoded)({"image": "QUJD" * 300_000}) is None
