"""Six published servers, asked directly and through the gateway by strict clients: the same.

Listings and calls, with and without roots, sampling and elicitation, over stdio and HTTP, in three
revisions: twelve kinds of client. Names and what changes by itself aside, an answer through the
gateway is the one that the server gives directly, as far as the client's revision has a form for it.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from tests.gateway.pages import served_files
from tests.peers.serving import Listening, serving
from tests.strict.client import (
    TO_START,
    WITHIN,
    Answers,
    Failed,
    StrictClient,
    abilities,
    over_stdio,
)
from tests.strict.client_http import over_http, over_pair
from tests.strict.features import SINCE
from tests.strict.pairing import Peer
from tests.strict.published import (
    ASKING,
    EVERYTHING,
    Published,
    environment_of,
    make_world,
    servers,
    settled,
)
from tests.strict.schema import Json, JsonObject, absent
from tests.strict.test_matrix import connected
from tests.until import until
from tests.upstreams import real

pytestmark = pytest.mark.long

LISTS = {
    "tools/list": ("tools", "name"),
    "prompts/list": ("prompts", "name"),
    "resources/list": ("resources", "uri"),
    "resources/templates/list": ("resourceTemplates", "uriTemplate"),
}
OLD, MIDDLE, NEW = "2024-11-05", "2025-06-18", "2025-11-25"
# What a tool has made; a process that clients share shows it to all of them.
OF_A_CALL = "demo://resource/session/"
# The server itself has sent what the client's revision does not have: nobody has to repeat it.
INVALID = "not of this revision"
IN_ITS_PLACE = {"type": "text"}
BLOCKS = {"audio": "2025-03-26", "resource_link": "2025-06-18"}


def answers_in(world: Path) -> Answers:
    roots = [{"uri": f"file://{world / name}", "name": name} for name in ("files", "more")]
    content = {"type": "text", "text": "sampled"}
    sampled = {"role": "assistant", "model": "small", "content": content}
    return {
        "roots/list": lambda params: {"roots": roots},
        "sampling/createMessage": lambda params: sampled,
        "elicitation/create": lambda params: {"action": "accept", "content": {"name": "Ann"}},
    }


def asked_of(server: Published, client: StrictClient) -> list[tuple[str, JsonObject]]:
    if server.name != "everything" or not client.capabilities:
        return server.requests
    can_elicit = "elicitation" in client.capabilities
    asking = [each for each in ASKING if can_elicit or "elicitation" not in each[1]["name"]]
    return [*server.requests, *asking]


async def answers(client: StrictClient, server: Published) -> dict[str, Json]:
    """What each request came to, as this client's revision can say it."""
    found: dict[str, Json] = {}
    for method, params in asked_of(server, client):
        before = len(client.problems)
        try:
            answer: Json = fitted(await client.whole(method, params), client.revision)
        except Failed as failed:
            answer = {"error": failed.error}
        except TimeoutError:
            answer = "nothing came"
        if len(client.problems) > before:
            answer = INVALID
        found[f"{method} {json.dumps(params)}"] = settled(answer)
    return found


def fitted(result: JsonObject, revision: str) -> Json:
    """Without what this revision does not have, and without who answered."""
    kept = {key: value for key, value in result.items() if key not in ("_meta", "resultType")}
    if revision < "2025-06-18":
        kept.pop("structuredContent", None)
    if "content" in kept:
        kept["content"] = [
            IN_ITS_PLACE if BLOCKS.get(block["type"], "") > revision else block
            for block in kept["content"]
        ]
    return {key: value for key, value in kept.items() if (key, value) != ("isError", False)}


async def listings(client: StrictClient) -> dict[str, dict[str, Json]]:
    found: dict[str, dict[str, Json]] = {}
    for method, (kind, key) in LISTS.items():
        try:
            entries = await client.listed(method, kind)
        except Failed:
            entries = []  # a server without any
        found[kind] = {
            entry[key]: shown(entry, client.revision)
            for entry in entries
            if not entry[key].startswith(OF_A_CALL)
        }
    return found


def shown(entry: JsonObject, revision: str) -> JsonObject:
    return {
        key: value
        for key, value in entry.items()
        # `execution` speaks of tasks.
        if key != "execution" and (SINCE.get(key, "") <= revision or key == "annotations")
        if not (key == "annotations" and "inputSchema" in entry and revision < "2025-03-26")
    }


async def whole_listings(client: StrictClient, expected: Found) -> dict[str, dict[str, Json]]:
    """The first list waits a while for servers that are starting, and no longer."""
    listed: dict[str, dict[str, Json]] = {}
    with suppress(TimeoutError):
        async with asyncio.timeout(TO_START):
            while not listed or expected[0]["tools"].keys() - listed["tools"].keys():
                listed = await listings(client)
    return listed


Found = tuple[dict[str, dict[str, Json]], dict[str, Json]]


async def directly(
    all_servers: list[Published], revision: str, able: bool, env: Mapping[str, str], world: Path
) -> Found:
    make_world(world)

    async def one(server: Published) -> Found:
        command = environment_of(server, env)
        capabilities = abilities(revision) if able else {}
        async with over_stdio(command, revision, capabilities, answers_in(world)) as client:
            await settle(client, server)
            return await listings(client), await answers(client, server)

    lists: dict[str, dict[str, Json]] = {kind: {} for kind, _ in LISTS.values()}
    said: dict[str, Json] = {}
    for listed, answered in await asyncio.gather(*map(one, all_servers)):
        said |= answered
        for kind in lists:
            lists[kind] |= listed[kind]
    return lists, said


async def settle(client: StrictClient, server: Published) -> None:
    """Two of them ask for roots first: whoever talks to them directly sees that it has ended."""
    if not client.capabilities or server.name not in ("everything", "filesystem"):
        return
    await until(lambda: client.questions, WITHIN)
    await asyncio.sleep(0.3)


def entries(all_servers: list[Published]) -> JsonObject:
    return {
        server.name: {"command": server.command[0], "args": server.command[1:], "env": server.env}
        for server in all_servers
    }


@asynccontextmanager
async def gateway(
    of: JsonObject, env: Mapping[str, str], folder: Path
) -> AsyncIterator[tuple[Path, Listening]]:
    file = folder / "mcp.json"
    file.write_text(json.dumps({"mcpServers": of}))
    async with serving(file, "--no-page", env=env) as running:
        yield file, running


async def through(
    all_servers: list[Published], us: Peer, able: bool, at: tuple[Path, Listening], expected: Found
) -> Found:
    world = at[0].parent / "world"
    make_world(world)
    capabilities = abilities(us.revision) if able else {}
    async with connected(us, *at, capabilities, answers_in(world)) as client:
        listed = await whole_listings(client, expected)
        said: dict[str, Json] = {}
        for server in all_servers:
            said |= await answers(client, server)
        assert not client.problems, client.problems
        return listed, said


def differences(direct: Found, via: Found) -> list[str]:
    found = [
        f"{kind} {name}: {json.dumps(via[0][kind].get(name))[:300]} "
        f"and not {json.dumps(direct[0][kind].get(name))[:300]}"
        for kind in direct[0]
        for name in {**direct[0][kind], **via[0][kind]}
        if via[0][kind].get(name) != direct[0][kind].get(name)
    ]
    return found + [
        f"{request[:200]}: {json.dumps(via[1][request])[:300]} and not {json.dumps(answer)[:300]}"
        for request, answer in direct[1].items()
        if answer != INVALID and alike(via[1][request], answer) != answer
    ]


def alike(found: Json, expected: Json) -> Json:
    """What was found, whatever it says in the place of a block that the client cannot have."""
    wanted = expected.get("content") if isinstance(expected, dict) else None
    blocks = found.get("content") if isinstance(found, dict) else None
    if not wanted or not blocks or len(wanted) != len(blocks):
        return found
    pairs = zip(blocks, wanted, strict=True)
    kept = [
        IN_ITS_PLACE if want == IN_ITS_PLACE and block["type"] == "text" else block
        for block, want in pairs
    ]
    return {**found, "content": kept}


@pytest.mark.timeout(300)
@pytest.mark.parametrize("able", [True, False], ids=["able", "plain"])
@pytest.mark.parametrize("revision", [OLD, MIDDLE, NEW])
async def test_published_servers_say_through_the_gateway_what_they_say_directly(
    revision: str,
    able: bool,
    published: Mapping[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if why := absent():
        pytest.skip(why)
    git = await asyncio.to_thread(real.from_pypi, "git", "mcp-server-git==2026.10.19")
    for name, value in published.items():
        monkeypatch.setenv(name, value)  # the client over stdio starts a gateway of its own
    world = tmp_path / "world"
    make_world(world)
    with served_files(world / "files") as pages:
        six = servers(world, pages, git)
        direct = await directly(six, revision, able, published, world)
        assert sum(request.startswith("tools/call ") for request in direct[1]) >= 50
        # Servers that nobody has called before, as directly: some of them have toggles.
        async with gateway(entries(six), published, tmp_path) as at:
            for us in (Peer(revision, "http"), Peer(revision, "stdio")):
                found = differences(direct, await through(six, us, able, at, direct))
                number = sum(map(len, direct[0].values()))
                print(f"{us}: {number} entries, {len(direct[1])} requests, {len(found)} differ")
                assert not found, "\n".join(found)


@pytest.mark.timeout(300)
@pytest.mark.parametrize(("mode", "path"), [("streamableHttp", "mcp"), ("sse", "sse")])
async def test_a_published_server_over_http_says_through_the_gateway_what_it_says_directly(
    mode: str, path: str, tmp_path: Path
) -> None:
    if why := absent():
        pytest.skip(why)
    everything = [Published("everything", [], EVERYTHING)]
    make_world(tmp_path / "world")
    us = Peer(OLD if mode == "sse" else NEW, "http")
    open_directly = over_pair if mode == "sse" else over_http
    async with real.everything_at(mode) as port:
        url = f"http://127.0.0.1:{port}/{path}"
        async with gateway({"everything": {"url": url}}, {}, tmp_path) as at:
            for able in (True, False):
                answering = answers_in(tmp_path / "world")
                capabilities = abilities(us.revision) if able else {}
                opening = open_directly(url, us.revision, capabilities, answering)
                async with opening as client:
                    await settle(client, everything[0])
                    direct = await listings(client), await answers(client, everything[0])
                found = differences(direct, await through(everything, us, able, at, direct))
                assert not found, "\n".join(found)
