"""Results that nothing has to change in arrive byte for byte, whatever JSON they are made of."""

from __future__ import annotations

import random
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.gateway.eras import HANDSHAKE, MODERN
from tests.gateway.listed import until_listed
from tests.gateway.pages import served_files
from tests.gateway.test_real_servers import AS_TASK, prepared, published_servers
from tests.gateway.yard import Yard
from tests.peers import sdk_conformance_server as sdk
from tests.peers.raw import RawClient, StdioClient, over_stdio
from tests.peers.raw_http import HttpClient, over_http
from tests.peers.serving import environment, listening, serving, toolyard

pytestmark = pytest.mark.long

PEER, RECORDER = (
    str(Path(__file__).with_name(f"{name}.py")) for name in ("verbatim_peer", "recorder")
)
TEXTS = (
    "",
    "é😀",
    "\\u00e9",
    "\\/",
    "\\n\\t\\\\",
    "\\ud83d\\ude00",
    "\\ud800",
    "\\u0000",
    "a" * 5000,
)
SIZES = (1_000, 10_000, 100_000, 300_000, 1_000_000)
NUMBERS = ("0", "-0", "1.0", "1e5", "1E-7", str(2**63), str(-(10**40)), "3.14159265358979323846")


def _text(chance: random.Random, depth: int) -> str:
    """JSON as nobody would write it: names twice, odd numbers, escapes, spaces."""
    kind = chance.randrange(7 if depth else 4)
    if kind == 0:
        return f'"{chance.choice(TEXTS)}"'
    if kind == 1:
        return chance.choice(NUMBERS)
    if kind < 4:
        return chance.choice(("true", "false", "null"))
    inside = [_text(chance, depth - 1) for _ in range(chance.randrange(4))]
    if kind == 4:
        return "[" + ", ".join(inside) + "]"
    return "{" + ",".join(f'"{chance.choice("ab")}" :{part}' for part in inside) + "}"


def _results(revision: str) -> list[str]:
    chance = random.Random(2026)
    kind = ',"resultType":"complete"' if revision == MODERN else ""
    texts = [chance.choice(TEXTS) for _ in range(100)]
    texts += [chance.choice(("é", "\\\\n", "x")) * size for size in SIZES]
    return [
        f'{{"content":[{{"type":"text","text":"{text}",'
        f'"vendor":{_text(chance, 3)}}}],"x-more":{_text(chance, 4)},"isError":false{kind}}}'
        for text in texts
    ]


async def received(client: RawClient, method: str, params: dict[str, Any]) -> bytes:
    """The text of the result as it came, without what every modern answer says of its server."""
    message = client.message(method, params)
    if isinstance(client, HttpClient):
        lines = await posted(client, message)
    else:
        assert isinstance(client, StdioClient)
        await client.exchange(message)
        lines = client.lines
    line = next(line for line in reversed(lines) if b'"method"' not in line[:60])
    head = b'{"jsonrpc":"2.0","id":%d,"result":{' % message["id"]
    assert line.startswith(head), line[:200]
    text = line.rstrip(b"\n")[len(head) : -1]
    return b"{" + (text.partition(b"}},")[2] if client.modern else text)


async def posted(client: HttpClient, message: dict[str, Any]) -> list[bytes]:
    async with client.stream(message) as reply:
        if not reply.streams:
            return [await reply.body()]
        return [event.data.encode() async for event in reply.events() if event.data]


@asynccontextmanager
async def upstream(results: Path, revision: str, form: str) -> AsyncIterator[dict[str, Any]]:
    command = [sys.executable, PEER, str(results), revision, form]
    if form == "stdio":
        yield {"stdio": {"command": command[0], "args": command[1:]}}
        return
    async with listening(command, env=environment()) as server:
        yield {"url": server.url, "transport": "streamablehttp"}


@asynccontextmanager
async def client_of(registry: Path, revision: str, transport: str) -> AsyncIterator[RawClient]:
    if transport == "stdio":
        async with over_stdio(
            toolyard("serve", registry), revision, env=environment(), checked=False
        ) as over_pipes:
            yield over_pipes
        return
    async with (
        serving(registry, "--no-page") as running,
        over_http(running.url, revision, checked=False) as over_sockets,
    ):
        yield over_sockets


@pytest.mark.parametrize("revision", [HANDSHAKE, MODERN])
@pytest.mark.parametrize(
    ("form", "transport"),
    [("stdio", "stdio"), ("stdio", "http"), ("json", "http"), ("events", "stdio")],
)
async def test_odd_results_arrive_as_they_were_sent(
    yard: Yard, revision: str, form: str, transport: str
) -> None:
    results = _results(revision)
    file = yard.write("results.txt", "\n".join(results))
    async with upstream(file, revision, form) as server:
        registry = yard.registry(servers=[{"name": "odd", "expose": "all", **server}])
        async with client_of(registry, revision, transport) as client:
            for number, result in enumerate(results):
                params = {"name": "say", "arguments": {"n": number}}
                assert await received(client, "tools/call", params) == result.encode()


def recorded(log: Path, name: str, command: list[str], env: Mapping[str, str]) -> dict[str, Any]:
    run = {"command": sys.executable, "args": [RECORDER, str(log), *command]}
    return {"name": name, "expose": "all", "stdio": run, "env": dict(env)}


async def test_published_servers_are_heard_word_for_word(
    published: Mapping[str, str], yard: Yard
) -> None:
    log = yard.root / "said.txt"
    folder = yard.root / "world" / "files"
    prepared(folder)
    with served_files(folder) as pages:
        servers = published_servers(folder, pages)
        registry = yard.registry(
            servers=[
                recorded(log, server.name, server.command, {**published, **server.env})
                for server in servers
            ]
        )
        async with serving(registry, "--no-page") as running:
            await until_listed(running, *(server.calls[0][0] for server in servers))
            for server in servers:
                async with over_http(running.url, server.revision, checked=False) as client:
                    for tool, arguments in server.calls:
                        if tool != AS_TASK:
                            params = {"name": tool, "arguments": arguments}
                            text = await received(client, "tools/call", params)
                            assert text[1:-1] in log.read_bytes(), tool


FIXTURES: list[tuple[str, dict[str, Any]]] = [
    ("tools/call", {"name": "test_simple_text", "arguments": {}}),
    ("tools/call", {"name": "test_image_content", "arguments": {}}),
    ("tools/call", {"name": "test_audio_content", "arguments": {}}),
    ("tools/call", {"name": "test_embedded_resource", "arguments": {}}),
    ("tools/call", {"name": "test_multiple_content_types", "arguments": {}}),
    ("tools/call", {"name": "test_error_handling", "arguments": {}}),
    ("prompts/get", {"name": "test_simple_prompt"}),
    (
        "prompts/get",
        {"name": "test_prompt_with_arguments", "arguments": {"arg1": "a", "arg2": "b"}},
    ),
    ("prompts/get", {"name": "test_prompt_with_image"}),
    ("resources/read", {"uri": "test://static-text"}),
    ("resources/read", {"uri": "test://static-binary"}),
    ("resources/read", {"uri": "test://template/7/data"}),
]


async def test_the_official_fixtures_are_heard_word_for_word(yard: Yard) -> None:
    log = yard.root / "said.txt"
    path = {"PYTHONPATH": environment()["PYTHONPATH"]}
    registry = yard.registry(servers=[recorded(log, "fixtures", sdk.STDIO, path)])
    async with (
        serving(registry, "--no-page") as running,
        over_http(running.url, MODERN, checked=False) as client,
    ):
        await until_listed(running, "test_simple_text")
        for method, params in FIXTURES:
            text = await received(client, method, params)
            assert text[1:-1] in log.read_bytes(), params
