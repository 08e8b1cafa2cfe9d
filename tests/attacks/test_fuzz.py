"""Anything at all, from every side: an answer to each request, no 5xx, no traceback, no growth.

A minute in all; FUZZ_SECONDS=7200 for two hours.
"""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from tests.attacks.fed import cancels, over_pipes, over_sockets, raw, shaped
from tests.attacks.fuzzing import fed
from tests.attacks.memory import MIB
from tests.attacks.strategies import NAMES, Wild, wild
from tests.peers.raw import MODERN, StdioClient
from tests.peers.raw_http import HttpClient
from toolyard.catalog.entries import Entries
from toolyard.catalog.listing import Listing
from toolyard.catalog.snapshot import Catalog, PageRequest, assemble
from toolyard.errors import ConfigError, ProtocolError
from toolyard.protocol.codec import dumps
from toolyard.protocol.kinds import KINDS
from toolyard.protocol.revisions import ALL
from toolyard.sources.registry.chain.overlay import lay_over
from toolyard.sources.registry.format.load import read_registry
from toolyard.upstreams.target import PoolTargets

pytestmark = pytest.mark.long

Json = Any
GROWTH = 24 * MIB
METHODS = sorted(
    frozenset[str]().union(*(revision.methods for revision in ALL.values()))
    - {"shutdown", "exit", "initialize", "subscriptions/listen"}
)


def say(capsys: pytest.CaptureFixture[str], what: str, count: int, grown: int = 0) -> None:
    with capsys.disabled():
        print(f"\n{what}: {count} inputs, {grown / MIB:+.1f} MiB")


# -- what is built from what others say -------------------------------------------------

TARGETS = PoolTargets(lambda server: None)  # type: ignore[arg-type, return-value]
REGISTRY = {
    "servers": [{"name": "u", "stdio": {"command": "false"}, "expose": "all"}],
    "tools": [
        {"name": "v", "server": "u", "originalName": "a", "defaults": {"b": 1}},
        {"name": "w", "server": "u", "originalName": "give", "hideFields": ["name"]},
        {"name": "x", "source": "v", "inputSchema": {"type": "object", "properties": {}}},
    ],
}


def listing(wild: Wild) -> Listing:
    return Listing(
        "u",
        tools=tuple(objects_of(wild.many(wild.tool, 4))),
        resources=tuple(objects_of(wild.many(wild.resource))),
        templates=tuple(objects_of(wild.many(wild.template))),
        prompts=tuple(objects_of(wild.many(wild.prompt))),
        capabilities=wild.object(),
    )


def objects_of(values: list[Json]) -> list[Json]:
    return [value for value in values if isinstance(value, dict)]


def use(catalog: Catalog) -> None:
    """Everything that is made of a catalog when somebody lists and calls."""
    for kind in KINDS:
        assert catalog.digest(kind)
        for revision in ALL.values():
            json.loads(catalog.page(PageRequest(kind, revision, 1000), {}).body)
    for tool in catalog.tools.values():
        for check in (catalog.input_checkers[tool.name], catalog.output_checkers[tool.name]):
            for value in ({}, {"a": [1, "x"]}):
                wrong = check(value)
                assert wrong is None or isinstance(wrong, str)
        catalog.header_names[tool.name]
    for uri in ("x://a", "file:///a", ""):
        catalog.find_resource(uri)


def test_any_listing_of_another_server_makes_a_catalog(capsys: pytest.CaptureFixture[str]) -> None:
    registry = read_registry(json.dumps(REGISTRY).encode(), "r.json", {}, set())

    def act(wild: Wild) -> int:
        listed = listing(wild)
        use(assemble([lay_over(registry, Entries(), {"u": listed}, TARGETS)]))
        return sum(len(getattr(listed, kind)) for kind in KINDS)

    say(capsys, "entries", fed(wild, act))


def document(wild: Wild) -> Json:
    if wild.random() < 0.05:
        return wild.value()
    stdio = lambda: wild.like(command=wild.one("false"), args=lambda: wild.many(wild.name))  # noqa: E731
    server = lambda: wild.like(  # noqa: E731
        name=wild.name,
        stdio=stdio,
        expose=wild.one("all", "listed", ["a*"]),
        prefix=wild.one("p_"),
        timeout=wild.one(1, 0, -1, 2.5),
    )
    tool = lambda: wild.like(  # noqa: E731
        name=wild.name,
        server=wild.name,
        originalName=wild.name,
        **{wild.choice(("source", "defaults", "spec", "outputTransform")): wild.value},
        hideFields=lambda: wild.many(wild.name),
        inputSchema=wild.schema,
        outputSchema=wild.schema,
        version=wild.one("1.0.0", "x"),
    )
    return wild.like(
        servers=lambda: wild.many(server),
        schemas=lambda: {wild.choice(NAMES): wild.schema() for _ in range(2)},
        tools=lambda: wild.many(tool),
    )


def test_any_registry_file_is_served_or_refused_with_its_problems(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def act(wild: Wild) -> int:
        try:
            registry = read_registry(dumps(document(wild)), "r.json", {}, {"a"})
        except ConfigError as error:
            assert error.problems
            return 1
        use(assemble([lay_over(registry, Entries(), {}, TARGETS)]))
        return 1

    say(capsys, "registries", fed(wild, act))


# -- what a running server is sent ------------------------------------------------------


def request(wild: Wild) -> Json:
    message = {"jsonrpc": "2.0", "method": wild.choice((*METHODS, "none", ""))}
    return message if wild.random() < 0.1 else {**message, "params": wild.params()}


def message(wild: Wild) -> Json:
    kind = wild.random()
    if kind < 0.5:
        return request(wild)
    if kind < 0.6:
        return wild.value()
    return wild.like(
        jsonrpc=wild.one("2.0"),
        id=wild.one(1, 2, "x", None, 2**70),
        method=wild.one(*METHODS),
        params=wild.params,
        result=wild.value,
        error=lambda: wild.like(code=wild.one(-1, "x"), message=wild.name),
    )


def body(wild: Wild) -> bytes:
    data = dumps(message(wild))
    kind = wild.random()
    if kind < 0.1:
        return wild.randbytes(wild.randrange(60))
    if kind < 0.3 and data:  # a byte of it is another, or it is cut
        at = wild.randrange(len(data))
        return data[:at] + wild.randbytes(wild.randrange(2)) + data[at + wild.randrange(2) :]
    return data


def test_any_message_over_stdio_is_answered(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    numbers = iter(range(1, 10**9))

    async def exchange(client: StdioClient, said: list[Json], asked: list[Json]) -> None:
        for one in said:
            await client.send_line(dumps(one))
        waiting = [await client.begin({"id": f"r{next(numbers)}", **one}) for one in asked]
        for answer in await asyncio.gather(*waiting):
            assert ("result" in answer) != ("error" in answer), answer
        client.heard.clear()
        client.lines.clear()
        client.notifications.clear()

    with over_pipes(tmp_path) as (live, client):

        def act(wild: Wild) -> int:
            # What ends the program by right, or is cancelled by another, is not asked.
            said = [one for one in (message(wild) for _ in range(20)) if not cancels(one)]
            live.run(exchange(client, said, [request(wild) for _ in range(20)]))
            return len(said) + 20

        act(Wild(1))
        live.warm()
        count = fed(wild, act)
        grown = live.grown()
        say(capsys, "JSON-RPC over stdio", count, grown)
    assert grown < GROWTH


@pytest.mark.parametrize("revision", ["2025-06-18", MODERN])
def test_any_body_over_http_is_answered(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], revision: str
) -> None:
    async def post(client: HttpClient, sent: bytes) -> None:
        headers = client.right(json.loads(sent) if shaped(sent) else None)
        answer = await raw(client.url, "POST", headers, sent)
        assert 200 <= answer[0] < 500, (answer, sent)
        if answer[0] != 202 and answer[1]:
            json.loads(answer[1])

    async def post_all(client: HttpClient, bodies: list[bytes]) -> None:
        await asyncio.gather(*(post(client, one) for one in bodies))

    with over_sockets(tmp_path, revision) as (live, client):

        def act(wild: Wild) -> int:
            bodies = [body(wild) for _ in range(20)]
            calm = [one for one in bodies if not cancels(json.loads(one) if shaped(one) else None)]
            live.run(post_all(client, calm))
            return len(calm)

        act(Wild(1))
        live.warm()
        count = fed(wild, act)
        grown = live.grown()
        say(capsys, f"bodies over HTTP, {revision}", count, grown)
    assert grown < GROWTH


LINES = (
    *("Content-Type: application/json", "Accept: */*", "Accept: text/event-stream", "Host: x"),
    *("Content-Type: text/plain", "Origin: http://evil.test", "Mcp-Session-Id: x", "A", ": x"),
    *("Last-Event-ID: g.1", f"Last-Event-ID: r1.{'9' * 5000}", "MCP-Protocol-Version: 2026-07-28"),
    *("Connection: close", "Connection: keep-alive, x", "Cookie: a", "X: \x01", "X:  y  "),
    *("Authorization: Bearer x", "Mcp-Param-A: =?base64?!!?=", "Mcp-Method: tools/list"),
)
PATHS = ("/mcp", "/mcp/", "/sse", "/messages?session_id=x", "/status", "/healthz", "/", "/%00")
VERBS = ("GET", "POST", "DELETE", "OPTIONS", "PUT", "HEAD", "get", "X")


def test_any_http_request_is_answered(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    async def send(url: str, method: str, path: str, lines: list[str], body: bytes) -> None:
        place = url.removeprefix("http://").partition("/")[0]
        host, _, port = place.partition(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        first = [f"{method} {path} HTTP/1.1", f"Host: {place}", f"Content-Length: {len(body)}"]
        writer.write("\r\n".join([*first, *lines, "", ""]).encode("latin-1") + body)
        try:
            answer = await reader.readuntil(b"\r\n")
        except asyncio.IncompleteReadError as error:
            answer = error.partial
        writer.close()
        assert answer.startswith(b"HTTP/1.1 "), (answer, first, lines)
        assert 200 <= int(answer.split(b" ")[1]) < 500, (answer, first, lines, body)

    with over_sockets(tmp_path, "2025-06-18") as (live, client):

        async def send_all(wild: Wild) -> None:
            async with asyncio.TaskGroup() as tasks:
                for _ in range(20):
                    path = wild.choice((*PATHS, f"/{wild.getrandbits(40):x}~!*"))
                    lines = wild.many(wild.one(*LINES), 6)
                    sent = send(client.url, wild.choice(VERBS), path, lines, body(wild))
                    tasks.create_task(sent)

        def act(wild: Wild) -> int:
            live.run(send_all(wild))
            return 20

        act(Wild(1))
        live.warm()
        count = fed(wild, act)
        grown = live.grown()
        say(capsys, "HTTP requests", count, grown)
    assert grown < GROWTH


def test_any_result_of_another_server_reaches_its_client(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async def call(client: StdioClient, result: Json) -> None:
        waiting = [
            await client.begin(client.message("tools/call", {"name": name, "arguments": result}))
            for name in ("give", "made", "raise")
        ]
        for answer in await asyncio.gather(*waiting):
            assert ("result" in answer) != ("error" in answer), answer

    with over_pipes(tmp_path) as (live, client):

        async def call_all(wild: Wild) -> int:
            made = [{"code": 1, "message": "x", **wild.result()} for _ in range(10)]
            await asyncio.gather(*(call(client, result) for result in made))
            client.heard.clear()
            client.lines.clear()
            return 3 * len(made)

        def act(wild: Wild) -> int:
            return live.run(call_all(wild))

        act(Wild(1))
        live.warm()
        count = fed(wild, act)
        grown = live.grown()
        say(capsys, "results", count, grown)
    assert grown < GROWTH


def test_the_fuzzer_would_notice() -> None:
    """A fault that few inputs set off is found: the fuzzer is no idle loop."""

    def act(wild: Wild) -> int:
        if isinstance(wild.tool().get("name"), list):
            raise ProtocolError(-32603, "found")
        return 1

    with pytest.raises(ProtocolError):
        fed(wild, act)
