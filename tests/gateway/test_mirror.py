"""A server behind the gateway is spoken to as each client would speak to it: era, abilities."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.peers.raw import JsonObject, RawClient
from tests.peers.raw_http import HttpClient, over_http
from tests.peers.serving import serving, spawned, toolyard
from tests.until import until

TELLTALE = str(Path(__file__).with_name("telltale.py"))
MODERN, HANDSHAKE, OLDER = "2026-07-28", "2025-11-25", "2025-06-18"
ABLE: JsonObject = {"elicitation": {}, "sampling": {}, "roots": {"listChanged": True}}
UI: JsonObject = {"extensions": {"io.modelcontextprotocol/ui": {"mimeTypes": ["text/html"]}}}
ANSWERS: JsonObject = {
    "elicitation/create": {"action": "accept", "content": {"name": "Ann"}},
    "sampling/createMessage": {
        "role": "assistant",
        "model": "m",
        "content": {"type": "text", "text": "hello"},
    },
    "roots/list": {"roots": [{"uri": "file:///ann"}]},
}
ASKING = {"ask-elicitation", "ask-sampling", "ask-roots"}


class Gateway:
    """A gateway before the telltale, and clients of it."""

    def __init__(self, url: str, stack: AsyncExitStack) -> None:
        self.url = url
        self._stack = stack

    async def client(
        self, revision: str, capabilities: JsonObject | None = None, **more: Any
    ) -> HttpClient:
        opened = over_http(
            self.url,
            revision,
            capabilities=capabilities or {},
            answers=more.pop("answers", ANSWERS),
            **more,
        )
        client = await self._stack.enter_async_context(opened)
        if revision != MODERN:
            await client.open_get()
        return client


@asynccontextmanager
async def gateway(folder: Path, **options: Any) -> AsyncIterator[Gateway]:
    server: JsonObject = {key: options.pop(key) for key in ("share", "validate") if key in options}
    telltale = {"command": sys.executable, "args": [TELLTALE, json.dumps(options)]}
    registry = folder / "registry.json"
    up: JsonObject = {"name": "up", "stdio": telltale, "expose": "all"} | server
    registry.write_text(json.dumps({"servers": [up]}))
    async with serving(registry, "--no-page") as running, AsyncExitStack() as stack:
        yield Gateway(running.url, stack)


async def names(client: RawClient) -> set[str]:
    return {tool["name"] for tool in (await client.result("tools/list"))["tools"]}


async def said(client: RawClient, tool: str, arguments: JsonObject | None = None) -> Any:
    result = await client.call(tool, arguments)
    assert not result.get("isError"), result
    return json.loads(result["content"][0]["text"])


# -- eras ------------------------------------------------------------------------------------


async def test_a_server_of_both_eras_is_spoken_to_in_the_clients_own(tmp_path: Path) -> None:
    async with gateway(tmp_path) as before:
        told = {
            revision: await said(await before.client(revision), "whoami")
            for revision in (HANDSHAKE, MODERN, OLDER)
        }
        eras = {revision: one["era"] for revision, one in told.items()}
    assert eras == {HANDSHAKE: "handshake", MODERN: "modern", OLDER: "handshake"}
    # Clients that nobody asks anything share a process, whatever their revision.
    assert told[HANDSHAKE]["pid"] == told[OLDER]["pid"]


async def test_a_client_that_can_be_asked_is_asked_imperatively_in_its_revision(
    tmp_path: Path,
) -> None:
    async with gateway(tmp_path) as before:
        client = await before.client(OLDER, ABLE)
        assert (await said(client, "ask-elicitation"))["result"]["content"] == {"name": "Ann"}
        assert (await said(client, "ask-sampling"))["result"]["content"]["text"] == "hello"
        assert (await said(client, "ask-roots"))["result"] == ANSWERS["roots/list"]
        me = await said(client, "whoami")
    assert (me["era"], me["version"], me["told"]) == ("handshake", OLDER, ABLE)


@pytest.mark.parametrize(
    ("eras", "revision", "era"),
    [(["modern"], HANDSHAKE, "modern"), (["handshake"], MODERN, "handshake")],
)
async def test_a_server_without_the_clients_era_is_bridged(
    tmp_path: Path, eras: list[str], revision: str, era: str
) -> None:
    async with gateway(tmp_path, eras=eras) as before:
        client = await before.client(revision)
        again = await before.client(revision)
        told = [await said(one, "whoami") for one in (client, again)]
    assert [one["era"] for one in told] == [era, era]
    assert told[0]["pid"] == told[1]["pid"]


async def test_ten_clients_that_cannot_be_asked_share_one_process(tmp_path: Path) -> None:
    async with gateway(tmp_path, eras=["handshake"]) as before:
        clients = [await before.client(HANDSHAKE if n % 2 else MODERN) for n in range(10)]
        for client in clients:
            assert "whoami" in await names(client)
        told = await asyncio.gather(*(said(client, "whoami") for client in clients))
    assert len({one["pid"] for one in told}) == 1


# -- what is listed --------------------------------------------------------------------------


@pytest.mark.parametrize("eras", [["handshake"], ["modern"], ["handshake", "modern"]])
@pytest.mark.parametrize("revision", [HANDSHAKE, MODERN])
async def test_tools_are_listed_by_what_the_client_can_do(
    tmp_path: Path, eras: list[str], revision: str
) -> None:
    async with gateway(tmp_path, eras=eras) as before:
        plain, able = await before.client(revision), await before.client(revision, ABLE)
        elicits = await before.client(revision, {"elicitation": {}})
        assert await names(able) >= ASKING
        assert await names(elicits) & ASKING == {"ask-elicitation"}
        assert not await names(plain) & ASKING
        assert await names(able) >= ASKING
        unlisted = await plain.request("tools/call", {"name": "ask-roots", "arguments": {}})
        assert "not found" in unlisted["error"]["message"]


async def test_a_tool_that_was_never_listed_is_found_by_who_can_use_it(tmp_path: Path) -> None:
    async with gateway(tmp_path, eras=["handshake"]) as before:
        client = await before.client(HANDSHAKE, ABLE)
        assert "result" in await said(client, "ask-sampling")


async def test_clients_that_are_alike_share_what_one_of_them_was_listed(tmp_path: Path) -> None:
    log = tmp_path / "log"
    async with gateway(tmp_path, eras=["handshake"], log=str(log)) as before:
        for _ in range(5):
            assert await names(await before.client(HANDSHAKE, ABLE)) >= ASKING
        lines = [json.loads(line) for line in log.read_text().splitlines()]
    greetings = [line for line in lines if line.get("method") == "initialize"]
    # Everybody's, and that of the first who can be asked.
    assert [bool(line["params"]["capabilities"]) for line in greetings] == [False, True]


async def test_what_was_listed_to_a_kind_of_client_is_kept_for_the_next_start(
    tmp_path: Path,
) -> None:
    log = tmp_path / "log"
    async with gateway(tmp_path, eras=["handshake"], log=str(log)) as before:
        first = await names(await before.client(HANDSHAKE, ABLE))
    log.unlink()
    async with gateway(tmp_path, eras=["handshake"], log=str(log)) as before:
        assert await names(await before.client(HANDSHAKE, ABLE)) == first >= ASKING
        assert not log.exists()


async def test_a_list_that_changes_is_announced_to_the_client_it_changed_for(
    tmp_path: Path,
) -> None:
    async with gateway(tmp_path, eras=["handshake"]) as before:
        client = await before.client(HANDSHAKE, ABLE)
        assert "later" not in await names(client)
        await said(client, "add", {"name": "later"})
        await client.notification("notifications/tools/list_changed")
        assert "later" in await names(client)
        assert await said(client, "later", {"x": 1}) == {"x": 1}


async def test_sharing_that_is_forced_asks_and_lists_nothing_more(tmp_path: Path) -> None:
    async with gateway(tmp_path, eras=["handshake"], share="always") as before:
        clients = [await before.client(HANDSHAKE, ABLE) for _ in range(2)]
        assert not await names(clients[0]) & ASKING
        told = [await said(client, "whoami") for client in clients]
    assert told[0]["pid"] == told[1]["pid"]
    assert told[0]["told"] == {}


async def test_extensions_of_a_client_reach_a_handshake_server(tmp_path: Path) -> None:
    async with gateway(tmp_path, eras=["handshake"]) as before:
        clients = [await before.client(HANDSHAKE, UI) for _ in range(2)]
        assert "app" in await names(clients[0])
        told = [await said(client, "whoami") for client in clients]
        plain = await before.client(HANDSHAKE)
        assert "app" not in await names(plain)
    assert told[0]["told"] == UI
    assert told[0]["pid"] == told[1]["pid"]


# -- subscriptions ---------------------------------------------------------------------------


@pytest.mark.parametrize("eras", [["handshake"], ["modern"]])
@pytest.mark.parametrize("capabilities", [{}, ABLE])
@pytest.mark.parametrize("revision", [HANDSHAKE, MODERN])
async def test_an_update_comes_for_each_that_the_server_sent_and_for_none_else(
    tmp_path: Path, revision: str, capabilities: JsonObject, eras: list[str]
) -> None:
    async with gateway(tmp_path, eras=eras) as before:
        client = await before.client(revision, capabilities)
        if revision == MODERN:
            await client.subscribe(resourceSubscriptions=["note://1"])
        else:
            await client.result("resources/subscribe", {"uri": "note://1"})
        for _ in range(2):
            assert await said(client, "touch") == {"watched": ["note://1"]}
            await client.notification("notifications/resources/updated")
        await client.result("tools/list")
        heard = [one["method"] for one in client.notifications]
    assert heard.count("notifications/resources/updated") == 2


async def test_an_update_of_one_clients_process_does_not_reach_another_client(
    tmp_path: Path,
) -> None:
    async with gateway(tmp_path, eras=["handshake"]) as before:
        ann, bob = await before.client(HANDSHAKE, ABLE), await before.client(HANDSHAKE, ABLE)
        for client in (ann, bob):
            await client.result("resources/subscribe", {"uri": "note://1"})
        await said(ann, "touch")
        await ann.notification("notifications/resources/updated")
        await said(bob, "whoami")
        assert not [one for one in bob.notifications if "updated" in one["method"]]
        await ann.result("resources/unsubscribe", {"uri": "note://1"})

        async def is_let_go() -> bool:
            return not (await said(ann, "touch"))["watched"]

        await until(is_let_go)


# -- roots -----------------------------------------------------------------------------------


@pytest.mark.parametrize("revision", [HANDSHAKE, MODERN])
async def test_the_first_call_runs_with_the_clients_roots(tmp_path: Path, revision: str) -> None:
    async with gateway(tmp_path, eras=["handshake"]) as before:
        client = await before.client(revision, ABLE)
        assert (await said(client, "whoami"))["roots"] == [{"uri": "file:///ann"}]


async def test_roots_that_change_reach_the_server_that_was_told_them(tmp_path: Path) -> None:
    now = [{"uri": "file:///ann"}]
    answers = {"roots/list": lambda params: {"roots": now}}
    async with gateway(tmp_path) as before:
        client = await before.client(HANDSHAKE, ABLE, answers=answers)
        assert (await said(client, "whoami"))["roots"] == [{"uri": "file:///ann"}]
        now = [{"uri": "file:///bob"}]
        await client.notify("notifications/roots/list_changed")
        assert (await said(client, "whoami"))["roots"] == [{"uri": "file:///bob"}]


# -- the smaller ones ------------------------------------------------------------------------

GREET = {
    "ref": {"type": "ref/prompt", "name": "greet"},
    "argument": {"name": "city", "value": "p"},
}


@pytest.mark.parametrize(("more", "values"), [({"completes": True}, ["paris"]), ({}, [])])
async def test_a_server_of_2024_11_05_is_asked_for_completions(
    tmp_path: Path, more: JsonObject, values: list[str]
) -> None:
    async with gateway(tmp_path, eras=["handshake"], version="2024-11-05", **more) as before:
        client = await before.client(HANDSHAKE)
        completed = await client.result("completion/complete", GREET)
    assert completed["completion"]["values"] == values


async def test_the_server_decides_about_arguments_of_its_own_tools(tmp_path: Path) -> None:
    async with gateway(tmp_path) as before:
        assert await said(await before.client(HANDSHAKE), "coerce", {"n": "3"}) == {"n": "3"}


async def test_the_server_decides_about_arguments_of_its_own_prompts(tmp_path: Path) -> None:
    async with gateway(tmp_path) as before:
        client = await before.client(HANDSHAKE)
        got = await client.result("prompts/get", {"name": "greet", "arguments": {}})
    assert got["description"] == "greeted"


async def test_the_lock_holds_what_is_listed_to_clients_that_can_be_asked(tmp_path: Path) -> None:
    async with gateway(tmp_path, eras=["handshake"]):
        pass
    command = toolyard("registry", "lock", "--registry", str(tmp_path / "registry.json"))
    async with spawned(command) as running:
        assert await running.process.wait() == 0
    locked = json.loads((tmp_path / "registry.lock.json").read_text())
    assert {"whoami", *ASKING} <= locked["tools"].keys()


async def test_arguments_are_checked_where_the_registry_asks(tmp_path: Path) -> None:
    async with gateway(tmp_path, validate=True) as before:
        client = await before.client(HANDSHAKE)
        result = await client.call("coerce", {"n": "3"})
    assert result["isError"]
    assert "Invalid arguments for tool 'coerce'" in result["content"][0]["text"]


@pytest.mark.parametrize("revision", [HANDSHAKE, MODERN])
async def test_what_stands_behind_is_announced_and_nothing_else(
    tmp_path: Path, revision: str
) -> None:
    async with gateway(tmp_path, capabilities={"tools": {}, "prompts": {}}) as before:
        await names(await before.client(revision))
        client = await before.client(revision)
        assert client.server["capabilities"] == {
            "tools": {"listChanged": True},
            "prompts": {"listChanged": True},
        }


async def test_a_log_message_of_one_session_does_not_reach_another_of_the_same_caller(
    tmp_path: Path,
) -> None:
    able: JsonObject = {"tools": {}, "logging": {}}
    async with gateway(tmp_path, eras=["handshake"], capabilities=able) as before:
        ann, bob = await before.client(HANDSHAKE), await before.client(HANDSHAKE)
        files = [{"began": str(tmp_path / f"b{n}"), "go": str(tmp_path / f"g{n}")} for n in (0, 1)]
        calls = [asyncio.create_task(said(ann, "log", files[0]))]
        await until((tmp_path / "b0").exists)
        calls.append(asyncio.create_task(said(bob, "log", files[1])))
        await bob.result("tools/list")  # its call has been sent before this one was answered
        (tmp_path / "g0").touch()
        await calls[0]
        (tmp_path / "g1").touch()
        await calls[1]
    assert not [one for one in bob.notifications if one["method"] == "notifications/message"][1:]
