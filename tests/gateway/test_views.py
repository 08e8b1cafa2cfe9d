"""Views of a running gateway: who chooses them, what they list, what acts on the real tool."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.gateway.yard import ECHO, SEARCH, Yard
from tests.peers.http1 import fetch
from tests.peers.raw import over_stdio
from tests.peers.raw_http import over_http
from tests.peers.serving import serving, toolyard
from tests.until import until
from toolyard.access.tokens import hash_of, new_token

META = ["find_tools", "call_read_tool", "call_write_tool", "call_destructive_tool"]
READS = {**ECHO, "annotations": {"readOnlyHint": True}}
HANDSHAKE, MODERN = "2025-11-25", "2026-07-28"


def stocked(yard: Yard, **more: Any) -> Path:
    return yard.registry(servers=[yard.upstream("u", SEARCH, READS, expose="all")], **more)


async def names(client: Any) -> list[str]:
    return [tool["name"] for tool in (await client.result("tools/list", within=30))["tools"]]


def token(config: dict[str, Any], name: str) -> dict[str, str]:
    made = new_token()
    config["tokens"].append({"name": name, "hash": hash_of(made)})
    return {"Authorization": f"Bearer {made}"}


def called(name: str, /, **arguments: Any) -> dict[str, Any]:
    return {"name": name, "arguments": arguments}


@pytest.mark.parametrize("revision", [HANDSHAKE, MODERN])
async def test_an_address_chooses_the_view_and_full_is_the_default(
    yard: Yard, revision: str
) -> None:
    stocked(yard)
    async with serving(yard.file, "--no-page") as server:
        for query, expected in (
            ("", ["search", "echo"]),
            ("?view=full", ["search", "echo"]),
            ("?view=search", META),
            ("?view=index", META),
            ("?budget=100000", ["search", "echo"]),
        ):
            async with over_http(server.url + query, revision) as client:
                assert await names(client) == expected


async def test_a_flag_the_registry_and_pins_choose_what_is_listed(yard: Yard) -> None:
    stocked(yard, context={"view": "search", "pinned": ["ech?"]})
    async with over_stdio(toolyard("serve", yard.file)) as client:
        assert await names(client) == [*META, "echo"]
    async with over_stdio(toolyard("serve", yard.file, "--view", "full")) as client:
        assert await names(client) == ["search", "echo"]
    pinned = {"name": "mine", "server": "u", "originalName": "search", "pinned": True}
    stocked(yard, tools=[pinned])
    async with over_stdio(toolyard("serve", yard.file, "--view", "index")) as client:
        assert await names(client) == [*META, "mine"]


async def test_a_project_of_scripts_has_views_too(yard: Yard) -> None:
    yard.script("greet", 'echo "hello"', description="Greets somebody.")
    async with over_stdio(toolyard("serve", yard.root, "--view", "search")) as client:
        assert await names(client) == META
        found = await client.result("tools/call", called("find_tools", query="greet"))
        assert found["structuredContent"]["tools"][0]["name"] == "greet"


async def test_tokens_and_rules_choose_a_view_for_their_callers(yard: Yard) -> None:
    stocked(yard)
    config: dict[str, Any] = {"tokens": []}
    ada, eve = token(config, "ada"), token(config, "eve")
    config["tokens"][0]["view"] = "search"
    everything = {"tools": ["*"]}
    config["rules"] = [everything, {"for": {"token": "eve"}, "view": "index", **everything}]
    yard.write("toolyard.json", config)
    async with serving(yard.root, "--no-page") as server:
        for caller, expected in ((ada, "conclude"), (eve, "u: search echo")):
            async with over_http(server.url, headers=caller) as client:
                tools = (await client.result("tools/list", within=30))["tools"]
                assert [tool["name"] for tool in tools] == META
                assert expected in tools[0]["description"]
        async with over_http(server.url + "?view=full", headers=ada) as client:
            assert await names(client) == ["search", "echo"]


@pytest.mark.parametrize(
    ("query", "complaint"),
    [
        ("view=serach", b'no view "serach" (did you mean "search"?)'),
        ("budget=12", b"too small"),
        ("budget=many", b"a number of tokens"),
        ("view=index&budget=9000", b"name one of them"),
    ],
)
async def test_an_address_that_asks_for_what_cannot_be_is_refused(
    yard: Yard, query: str, complaint: bytes
) -> None:
    yard.registry()
    async with (
        serving(yard.file, "--no-page") as server,
        fetch(
            "POST", f"{server.url}?{query}", {"Content-Type": "application/json"}, b"{}"
        ) as reply,
    ):
        assert reply.status == 400
        assert complaint in await reply.body()


@pytest.mark.parametrize(
    ("flags", "complaint"),
    [
        (["--view", "all"], 'no view "all"'),
        (["--budget", "100"], "too small"),
        (["--budget", "x"], "a number of tokens"),
        (["--view", "index", "--budget", "9000"], "name one of them"),
    ],
)
async def test_a_flag_that_cannot_be_meant_ends_the_start(
    yard: Yard, flags: list[str], complaint: str
) -> None:
    yard.registry()
    async with over_stdio(toolyard("serve", yard.file, *flags), start=False) as client:
        assert complaint in await client.running.last_words()
        assert await client.running.process.wait() == 2


async def test_limits_and_the_audit_know_the_tool_that_does_the_work(yard: Yard) -> None:
    stocked(yard)
    config: dict[str, Any] = {
        "limits": [{"calls": 2, "seconds": 600, "tools": ["echo"]}],
        "auditLog": str(yard.root / "audit.log"),
    }
    yard.write("toolyard.json", config)
    async with (
        serving(yard.root, "--no-page") as server,
        over_http(server.url + "?view=search") as client,
    ):
        await client.result("tools/list", within=30)
        through = called("call_read_tool", name="echo", arguments={"a": 1})
        said = [await client.result("tools/call", through) for _ in range(3)]
        wrong = called("call_write_tool", name="search", arguments={"q": "x"})
        said.append(await client.result("tools/call", wrong))
        said.append(await client.result("tools/call", called("call_read_tool")))
    assert [result.get("isError", False) for result in said] == [False, False, True, True, True]
    assert "Too many calls" in said[2]["content"][0]["text"]
    assert yard.calls() == [["u", "echo", {"a": 1}]] * 2
    lines = [json.loads(line) for line in (yard.root / "audit.log").read_text().splitlines()]
    audited = [(line["name"], line["outcome"]) for line in lines if line["method"] == "tools/call"]
    assert audited == [
        ("echo", "ok"),
        ("echo", "ok"),
        ("echo", "failed"),
        ("search", "failed"),
        ("call_read_tool", "failed"),
    ]


async def test_what_is_forbidden_and_what_is_not_there_are_answered_alike(yard: Yard) -> None:
    stocked(yard)
    yard.write("toolyard.json", {"rules": [{"tools": ["echo"]}]})
    async with (
        serving(yard.root, "--no-page") as server,
        over_http(server.url + "?view=index") as client,
    ):
        listed = await client.result("tools/list", within=30)
        assert "search" not in listed["tools"][0]["description"].split("by server:")[1]
        answers = []
        for name in ("search", "nought"):
            asked = [
                called("find_tools", names=[name]),
                called("find_tools", query=f"{name} repositories on hosts"),
                called("call_destructive_tool", name=name),
            ]
            said = [await client.result("tools/call", call) for call in asked]
            answers.append(json.dumps(said).replace(name, "NAME"))
        assert answers[0] == answers[1]


async def test_a_query_of_100_kb_an_empty_one_and_an_empty_catalog_get_clear_answers(
    yard: Yard,
) -> None:
    yard.registry()
    async with (
        serving(yard.file, "--no-page") as server,
        over_http(server.url + "?view=search") as client,
    ):
        for query, complaint in (("x" * 100_000, "may have 1,000"), ("", "in a few words")):
            said = await client.result("tools/call", called("find_tools", query=query))
            assert said["isError"]
            text = said["content"][0]["text"]
            assert complaint in text.replace("say what the tool should do", "in a few words")
            assert len(text) < 300
        said = await client.result("tools/call", called("find_tools", query="weather"))
        nothing = {"tools": [], "unmatched": ["weather"], "total": 0}
        assert said["structuredContent"] == nothing
        wrong = await client.result("tools/call", called("find_tools", query="x", limit=1000))
        assert "limit" in wrong["content"][0]["text"]


@pytest.mark.parametrize("revision", [HANDSHAKE, MODERN])
async def test_only_clients_whose_list_has_changed_are_told(yard: Yard, revision: str) -> None:
    stocked(yard)
    async with serving(yard.file, "--no-page") as server:
        clients = {}
        async with (
            over_http(server.url, revision) as clients["full"],
            over_http(server.url + "?view=index", revision) as clients["index"],
            over_http(server.url + "?view=search", revision) as clients["search"],
        ):
            for client in clients.values():
                await client.result("tools/list", within=30)
                await hear_changes(client)
            changed = "notifications/tools/list_changed"
            told = {view: heard(client, changed) for view, client in clients.items()}
            mine = {"name": "mine", "server": "u", "originalName": "search"}
            stocked(yard, tools=[mine])
            await until(lambda: heard(clients["index"], changed) > told["index"])
            await until(lambda: heard(clients["full"], changed) > told["full"])
            indexed = heard(clients["index"], changed)
            # Another description of the same tool: the names stay, the definitions do not.
            full = heard(clients["full"], changed)
            stocked(yard, tools=[{**mine, "description": "Another one."}])
            await until(lambda: heard(clients["full"], changed) > full)
            assert heard(clients["index"], changed) == indexed
            assert heard(clients["search"], changed) == told["search"] == 0


async def hear_changes(client: Any) -> None:
    if client.modern:
        await client.subscribe(toolsListChanged=True)
    else:
        await client.open_get()


def heard(client: Any, method: str) -> int:
    return sum(message.get("method") == method for message in client.heard)


@pytest.mark.long
async def test_a_hundred_edits_of_the_registry_leave_the_meta_tools_as_they_are(
    yard: Yard,
) -> None:
    stocked(yard)
    async with (
        serving(yard.file, "--no-page") as server,
        over_http(server.url + "?view=search") as client,
        over_http(server.url) as full,
    ):
        first = await client.result("tools/list", within=30)
        for number in range(100):
            name = f"tool_{number}"
            stocked(yard, tools=[{"name": name, "server": "u", "originalName": "search"}])

            async def there(name: str = name) -> bool:
                return name in await names(full)

            await until(there)
            assert json.dumps(await client.result("tools/list")) == json.dumps(first)
            found = await client.result("tools/call", called("find_tools", query=name))
            assert found["structuredContent"]["tools"][0]["name"] == name
