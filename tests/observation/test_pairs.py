"""Parents, for every pair of a client's revision and a server's, over HTTP and over pipes."""

from __future__ import annotations

from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.gateway.yard import Yard
from tests.observation.collector import Collector
from tests.observation.test_traces import PARENT, SPAN, TRACE, meta, sent, upstream
from tests.peers.raw import MODERN, over_stdio
from tests.peers.raw_http import over_http, over_sse
from tests.peers.serving import serving, toolyard

REVISIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", MODERN)


def yard_of_all(yard: Yard) -> dict[str, Path]:
    """A server of each revision, and a tool that calls it: the log of each, by its revision."""
    logs = {revision: yard.root / f"{revision}.log" for revision in REVISIONS}
    servers = [{**upstream(logs[each], each), "name": each, "expose": "listed"} for each in logs]
    tools = [{"name": f"to-{each}", "server": each, "originalName": "whoami"} for each in logs]
    yard.registry(servers=servers, tools=tools)
    return logs


async def call_all(client: Any, collector: Collector, revision: str, logs: dict[str, Path]) -> None:
    for theirs, log in logs.items():
        await client.call(f"to-{theirs}", {}, meta={"traceparent": PARENT})
        outer = await collector.one(f"tools/call to-{theirs}", "SERVER")
        (inner,) = [
            span
            for span in collector.named("tools/call whoami", "CLIENT")
            if span.attributes["toolyard.server.name"] == theirs
        ] or [await collector.one("tools/call whoami", "CLIENT")]
        assert (outer.trace, outer.parent) == (TRACE, SPAN)
        assert (inner.trace, inner.parent) == (TRACE, outer.id)
        assert meta(sent(log))["traceparent"] == f"00-{TRACE}-{inner.id}-01"
        assert outer.attributes["mcp.protocol.version"] == revision
        assert inner.attributes["mcp.protocol.version"] == theirs
        collector.spans.clear()


@pytest.mark.parametrize("revision", REVISIONS)
async def test_over_http(yard: Yard, collector: Collector, revision: str) -> None:
    logs = yard_of_all(yard)
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(serving(yard.file, "--no-page", env=collector.env))
        if revision == "2024-11-05":
            client: Any = await stack.enter_async_context(over_sse(f"{server.origin}/sse"))
        else:
            client = await stack.enter_async_context(over_http(server.url, revision))
        await call_all(client, collector, revision, logs)


@pytest.mark.parametrize("revision", REVISIONS)
async def test_over_stdio(yard: Yard, collector: Collector, revision: str) -> None:
    logs = yard_of_all(yard)
    command = toolyard("serve", yard.file)
    async with over_stdio(command, revision, env=collector.env) as client:
        await call_all(client, collector, revision, logs)
