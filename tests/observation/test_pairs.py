"""Parents, for every pair of a client's revision and a server's, each over HTTP and over pipes."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeAlias

import pytest

from tests.gateway.yard import Yard
from tests.observation.collector import Caught, Collector
from tests.observation.test_traces import PARENT, SPAN, TRACE, meta, sent, upstream
from tests.peers.raw import MODERN, over_stdio
from tests.peers.raw_http import over_http, over_sse
from tests.peers.serving import listening, serving, toolyard
from tests.strict.server_http import http_name
from tests.until import until

REVISIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", MODERN)
Transport = Literal["http", "stdio"]
# Of each revision: where the server was told that it was called from.
Told: TypeAlias = Mapping[str, Callable[[], set[str]]]


@asynccontextmanager
async def servers_of(yard: Yard, transport: Transport) -> AsyncIterator[Told]:
    """A server of each revision, and a tool `to-REVISION` that calls it."""
    async with AsyncExitStack() as stack:
        if transport == "stdio":
            servers = [{**upstream(log_of(yard, each), each), "name": each} for each in REVISIONS]
            told = {each: partial(told_on_pipes, log_of(yard, each)) for each in REVISIONS}
            named = dict.fromkeys(REVISIONS, "whoami")
        else:
            strict = [sys.executable, "-m", "tests.strict.server", str(yard.root)]
            origin = (await stack.enter_async_context(listening(strict))).origin
            servers = [{"name": each, "url": url_of(origin, each)} for each in REVISIONS]
            notes = {each: yard.root / f"{http_name(each)}.notes" for each in REVISIONS}
            told = {each: partial(told_over_http, path) for each, path in notes.items()}
            named = {each: f"{http_name(each)}_echo" for each in REVISIONS}
        tools = [
            {"name": f"to-{each}", "server": each, "originalName": named[each]} for each in named
        ]
        yard.registry(servers=[{**one, "expose": "listed"} for one in servers], tools=tools)
        yield told


def log_of(yard: Yard, revision: str) -> Path:
    return yard.root / f"{revision}.log"


def url_of(origin: str, revision: str) -> str:
    return f"{origin}/{http_name(revision)}" + ("/sse" if revision == REVISIONS[0] else "")


def told_on_pipes(log: Path) -> set[str]:
    return {meta(sent(log))["traceparent"]}


def told_over_http(notes: Path) -> set[str]:
    """In the headers and in the message: one, if both say the same."""
    found = [json.loads(line) for line in notes.read_text().splitlines()]
    calls = [
        note
        for note in found
        if note["what"] == "traced" and note["message"]["method"] == "tools/call"
    ]
    last = calls[-1]
    return {last["headers"]["traceparent"], meta(last["message"])["traceparent"]}


async def call_all(client: Any, collector: Collector, revision: str, told: Told) -> None:
    for theirs in REVISIONS:
        await client.call(f"to-{theirs}", {"text": "x"}, meta={"traceparent": PARENT})
        outer = await collector.one(f"tools/call to-{theirs}", "SERVER")
        (inner,) = await until(partial(called, collector, theirs))
        assert (outer.trace, outer.parent) == (TRACE, SPAN)
        assert (inner.trace, inner.parent) == (TRACE, outer.id)
        assert told[theirs]() == {f"00-{TRACE}-{inner.id}-01"}
        assert outer.attributes["mcp.protocol.version"] == revision
        assert inner.attributes["mcp.protocol.version"] == theirs
        collector.spans.clear()


def called(collector: Collector, server: str) -> list[Caught]:
    """The spans of calls to a server."""
    return [
        span
        for span in collector.spans
        if span.kind == "CLIENT"
        and span.attributes["toolyard.server.name"] == server
        and span.attributes["mcp.method.name"] == "tools/call"
    ]


@pytest.mark.parametrize("transport", ["stdio", "http"])
@pytest.mark.parametrize("revision", REVISIONS)
async def test_over_http(
    yard: Yard, collector: Collector, revision: str, transport: Transport
) -> None:
    async with AsyncExitStack() as stack:
        told = await stack.enter_async_context(servers_of(yard, transport))
        server = await stack.enter_async_context(serving(yard.file, "--no-page", env=collector.env))
        if revision == "2024-11-05":
            client: Any = await stack.enter_async_context(over_sse(f"{server.origin}/sse"))
        else:
            client = await stack.enter_async_context(over_http(server.url, revision))
        await call_all(client, collector, revision, told)


@pytest.mark.parametrize("transport", ["stdio", "http"])
@pytest.mark.parametrize("revision", REVISIONS)
async def test_over_stdio(
    yard: Yard, collector: Collector, revision: str, transport: Transport
) -> None:
    command = toolyard("serve", yard.file)
    async with (
        servers_of(yard, transport) as told,
        over_stdio(command, revision, env=collector.env) as client,
    ):
        await call_all(client, collector, revision, told)
