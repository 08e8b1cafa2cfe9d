"""Results over their limit: the answer is within it, and every byte of the rest can be read."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.gateway.yard import Yard
from tests.peers.raw_http import HttpClient, over_http
from tests.peers.serving import serving
from tests.until import until
from toolyard.access.tokens import hash_of, new_token
from toolyard.context.meta_tools import META_NAMES

LIMIT = 20_000
REVISIONS = ["2024-11-05", "2025-11-25", "2026-07-28"]


def large(size: int) -> str:
    row = {"name": "x" * 80, "note": 'ünï "quoted"\n'}
    return json.dumps([{"id": number, **row} for number in range(size // 130)], ensure_ascii=False)


def tool(name: str, text: str, **more: Any) -> Any:
    result = {"content": [{"type": "text", "text": text}]}
    return {"name": name, "inputSchema": {"type": "object"}, "result": result, **more}


def stocked(yard: Yard, *tools: Any, **more: Any) -> None:
    yard.registry(
        servers=[yard.upstream("u", *tools, expose="all")], context={"resultLimit": "20 kB"}, **more
    )


def env(yard: Yard) -> dict[str, str]:
    return {"TOOLYARD_RESULTS_DIR": str(yard.root / "results")}


async def called(client: HttpClient, name: str, **arguments: Any) -> Any:
    params = {"name": name, "arguments": arguments}
    return await client.result("tools/call", params, within=60)


def id_in(result: Any) -> str:
    match = re.search(r"\(id (\S+),", result["content"][-1]["text"])
    assert match is not None, result["content"][-1]
    return match[1]


@pytest.mark.parametrize("size", [1_000_000, 10_000_000])
@pytest.mark.parametrize("revision", REVISIONS)
async def test_a_large_result_is_cut_and_every_byte_of_it_can_be_read(
    yard: Yard, revision: str, size: int
) -> None:
    text = large(size)
    stocked(yard, tool("rows", text))
    async with (
        serving(yard.file, "--no-page", env=env(yard)) as server,
        over_http(server.url, revision) as client,
    ):
        await client.result("tools/list", within=30)
        result = await called(client, "rows")
        assert len(json.dumps(result, ensure_ascii=False).encode()) <= LIMIT
        rows = json.loads(result["content"][0]["text"])
        assert rows == json.loads(text)[: len(rows)] and len(rows) > 50
        key = id_in(result)
        whole = await client.result("resources/read", {"uri": f"result://{key}"}, within=60)
        assert whole["contents"][0]["text"] == text
        half = len(text) // 2
        rest = await client.result("resources/read", {"uri": f"result://{key}?offset={half}"})
        assert rest["contents"][0]["text"] == text[half:]
        picked = await called(client, "read_result", id=key, path="$[7].id")
        assert json.loads(picked["content"][0]["text"]) == [7]
        if size == 1_000_000:
            assert await read_all(client, key) == text


async def read_all(client: HttpClient, key: str) -> str:
    parts: list[str] = []
    while True:
        offset = sum(map(len, parts))
        result = await called(client, "read_result", id=key, offset=offset)
        assert len(json.dumps(result, ensure_ascii=False).encode()) <= LIMIT
        part, about = (item["text"] for item in result["content"])
        parts.append(part)
        if about.endswith("this is the end."):
            return "".join(parts)


async def test_nobody_else_gets_what_is_kept_for_a_caller(yard: Yard) -> None:
    stocked(yard, tool("rows", large(100_000)))
    config: dict[str, Any] = {"tokens": [], "rules": [{"tools": ["rows"]}]}
    headers = []
    for name in ("ada", "eve"):
        secret = new_token()
        config["tokens"].append({"name": name, "hash": hash_of(secret)})
        headers.append({"Authorization": f"Bearer {secret}"})
    yard.write("toolyard.json", config)
    async with (
        serving(yard.root, "--no-page", env=env(yard)) as server,
        over_http(server.url, headers=headers[0]) as ada,
        over_http(server.url, headers=headers[1]) as eve,
    ):
        tools = (await ada.result("tools/list", within=30))["tools"]
        assert [entry["name"] for entry in tools] == ["rows", "read_result"]
        key = id_in(await called(ada, "rows"))
        assert not (await called(ada, "read_result", id=key)).get("isError")
        answers = []
        for asked in (key, "never-was"):
            refused = await eve.error("resources/read", {"uri": f"result://{asked}"})
            said = await called(eve, "read_result", id=asked)
            assert said["isError"]
            answers.append(json.dumps([refused, said]).replace(asked, "ID"))
        assert answers[0] == answers[1]
        for odd in ("../../etc/passwd", "a/b", "", "x" * 500):
            assert (await called(ada, "read_result", id=odd))["isError"]


async def test_errors_are_not_cut_and_what_promises_a_schema_fails_and_says_where_it_is(
    yard: Yard,
) -> None:
    text = large(100_000)
    failing = tool("failing", text)
    failing["result"]["isError"] = True
    stocked(
        yard,
        failing,
        tool("rows", text),
        tools=[
            {
                "name": "projected",
                "server": "u",
                "originalName": "rows",
                "outputSchema": {
                    "type": "object",
                    "properties": {"all": {"type": "array", "source_field": "$[*].name"}},
                },
            },
            {"name": "roomy", "server": "u", "originalName": "rows", "resultLimit": "1 MB"},
        ],
    )
    async with (
        serving(yard.file, "--no-page", env=env(yard)) as server,
        over_http(server.url) as client,
    ):
        await client.result("tools/list", within=30)
        assert (await called(client, "failing"))["content"][0]["text"] == text
        assert (await called(client, "roomy"))["content"][0]["text"] == text
        refused = await called(client, "projected")
        assert refused["isError"] and "promises a schema" in refused["content"][0]["text"]
        key = id_in(refused)
        picked = await called(client, "read_result", id=key, path="$.all[0:2]")
        assert json.loads(picked["content"][0]["text"]) == ["x" * 80] * 2
        everything = await called(client, "read_result", id=key, path="$..*")
        assert everything["isError"] and "pick less" in everything["content"][0]["text"]
        wrong = await called(client, "read_result", id=key, path="$[")
        assert wrong["isError"] and "path" in wrong["content"][0]["text"]


async def test_without_a_limit_nothing_is_cut_or_listed(yard: Yard) -> None:
    text = large(1_000_000)
    yard.registry(servers=[yard.upstream("u", tool("rows", text), expose="all")])
    async with (
        serving(yard.file, "--no-page", env=env(yard)) as server,
        over_http(server.url) as client,
    ):
        tools = (await client.result("tools/list", within=30))["tools"]
        assert [entry["name"] for entry in tools] == ["rows"]
        assert (await called(client, "rows"))["content"][0]["text"] == text
    assert not Path(env(yard)["TOOLYARD_RESULTS_DIR"]).exists()


async def test_limits_and_views_come_and_go_with_edits_of_the_registry(yard: Yard) -> None:
    text = large(100_000)
    servers = [yard.upstream("u", tool("rows", text), expose="all")]
    yard.registry(servers=servers)
    async with (
        serving(yard.file, "--no-page", env=env(yard)) as server,
        over_http(server.url) as client,
    ):

        async def state() -> tuple[list[str], bool]:
            tools = (await client.result("tools/list", within=30))["tools"]
            result = await called(client, "rows")
            whole = result["content"][0]["text"] == text
            return sorted(entry["name"] for entry in tools), whole

        plain = (["rows"], True)
        assert await state() == plain
        for context, expected in (
            ({"resultLimit": "20 kB"}, (["read_result", "rows"], False)),
            ({"pinned": []}, plain),
            ({"view": "search"}, (sorted(META_NAMES), True)),
            ({"pinned": []}, plain),
        ):
            yard.registry(servers=servers, context=context)

            async def is_so(expected: tuple[list[str], bool] = expected) -> bool:
                return await state() == expected

            await until(is_so)


async def test_what_is_kept_is_bounded_and_expires(yard: Yard) -> None:
    stocked(yard, tool("rows", large(100_000)))
    bounds = {"TOOLYARD_MAX_KEPT_RESULTS_BYTES": "250000"}
    async with (
        serving(yard.file, "--no-page", env={**env(yard), **bounds}) as server,
        over_http(server.url) as client,
    ):
        await client.result("tools/list", within=30)
        keys = [id_in(await called(client, "rows")) for _ in range(5)]
        there = [not (await called(client, "read_result", id=key)).get("isError") for key in keys]
        assert there == [False, False, False, True, True]
        folder = Path(env(yard)["TOOLYARD_RESULTS_DIR"])
        assert sum(file.stat().st_size for file in folder.iterdir()) <= 250_000
        assert all(file.stat().st_mode & 0o077 == 0 for file in (folder, *folder.iterdir()))
        for file in folder.iterdir():
            header, _, rest = file.read_bytes().partition(b"\n")
            past = json.dumps({**json.loads(header), "until": 1}).encode()
            file.write_bytes(past + b"\n" + rest)
        assert (await called(client, "read_result", id=keys[-1]))["isError"]


@pytest.mark.parametrize("limit", ["much", "10 bytes", -1])
async def test_a_limit_that_cannot_be_disables_that_tool_and_says_why(
    yard: Yard, limit: object
) -> None:
    entry = {"name": "mine", "server": "u", "originalName": "rows", "resultLimit": limit}
    yard.registry(servers=[yard.upstream("u", tool("rows", "x"))], tools=[entry])
    async with serving(yard.file, "--no-page") as server, over_http(server.url) as client:
        said = await called(client, "mine")
        assert said["isError"] and "resultLimit" in said["content"][0]["text"]
