"""One request is one trace, whichever processes it passes through."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.cluster.yard import replicas, yard
from tests.gateway.yard import ECHO, Yard
from tests.observation.collector import Collector, collecting
from tests.peers.raw import EVERYTHING, MODERN
from tests.peers.raw_http import over_http
from tests.peers.redis import needs_redis
from tests.until import until
from tests.workers.doors import doors
from tests.workers.test_forwarding import MORE, YES
from tests.workers.yard import crewed, project

TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
QUESTION = {
    "method": "elicitation/create",
    "params": {
        "mode": "form",
        "message": "Really?",
        "requestedSchema": {
            "type": "object",
            "properties": {"confirmed": {"type": "boolean"}},
            "required": ["confirmed"],
        },
    },
}
ROUND = json.dumps(
    {"resultType": "input_required", "inputRequests": {"q": QUESTION}, "requestState": "s"}
)
ASKING = {
    **MORE,
    "ask_by_returning": f"[ -n \"$MCP_REQUEST_STATE\" ] && echo done || echo '{ROUND}'",
}
CONTEXT = {"traceparent": f"00-{TRACE}-{SPAN}-01"}


@pytest_asyncio.fixture
async def collector() -> AsyncIterator[Collector]:
    async with collecting() as found:
        yield found


@pytest.mark.parametrize("by_header", [True, False])
async def test_a_request_that_is_forwarded_to_its_worker_is_one_trace(
    tmp_path: Path, collector: Collector, by_header: bool
) -> None:
    folder = project(tmp_path / "yard")
    headers = CONTEXT if by_header else {}
    async with crewed(folder, "--no-page", env=collector.env) as server, doors(server) as urls:
        home, other = urls.values()
        async with over_http(home, "2025-11-25", headers=headers) as client:
            client.url = other
            await client.call("who", {}, meta={} if by_header else CONTEXT)
            outer = await collector.one("tools/call who", "SERVER")
            run = await collector.one("script tool.sh", "INTERNAL")
    assert (outer.trace, outer.parent) == (TRACE, SPAN)
    assert (run.trace, run.parent) == (TRACE, outer.id)


async def test_a_server_that_runs_in_another_worker_is_called_in_the_same_trace(
    tmp_path: Path, collector: Collector
) -> None:
    files = Yard(tmp_path)
    files.registry(servers=[files.upstream("u", ECHO, expose="all")])
    async with (
        crewed(files.file, "--no-page", env=collector.env) as server,
        doors(server) as urls,
    ):
        for url in urls.values():
            async with over_http(url, MODERN) as client:
                await client.call("echo", {}, meta=CONTEXT)
        await until(lambda: len(collector.named("tools/call echo", "SERVER")) == 2)
        await until(lambda: len(collector.named("tools/call echo", "CLIENT")) == 2)
    outer = collector.named("tools/call echo", "SERVER")
    inner = collector.named("tools/call echo", "CLIENT")
    assert {span.trace for span in (*outer, *inner)} == {TRACE}
    assert {span.parent for span in outer} == {SPAN}
    assert {span.parent for span in inner} == {span.id for span in outer}


@pytest.mark.parametrize("tool", ["ask", "ask_by_returning"])
async def test_a_retry_that_another_worker_answers_is_linked_to_who_asked(
    tmp_path: Path, collector: Collector, tool: str
) -> None:
    """One waits in its worker, where the retry is forwarded to; of the other the state is all."""
    folder = project(tmp_path / "yard", ASKING)
    async with crewed(folder, "--no-page", env=collector.env) as server, doors(server) as urls:
        await assert_linked(tool, collector, *urls.values())


@needs_redis
@pytest.mark.parametrize("tool", ["ask", "ask_by_returning"])
async def test_a_retry_that_another_replica_answers_is_linked_to_who_asked(
    tmp_path: Path, collector: Collector, tool: str
) -> None:
    folder = project(tmp_path / "yard", ASKING)
    async with replicas(folder, "--no-page", env=collector.env) as found:
        await assert_linked(tool, collector, *(server.url for server in found.servers))


async def assert_linked(tool: str, collector: Collector, asked_at: str, answered_at: str) -> None:
    params = {"name": tool, "arguments": {}}
    async with over_http(asked_at, MODERN, capabilities=EVERYTHING, answers=YES) as client:
        asked = await client.result("tools/call", params)
        client.url = answered_at
        answers = {
            "inputResponses": client.responses_to(asked),
            "requestState": asked["requestState"],
        }
        result = await client.result("tools/call", {**params, **answers})
        assert "content" in result
    await until(lambda: len(collector.named(f"tools/call {tool}", "SERVER")) == 2)
    spans = collector.named(f"tools/call {tool}", "SERVER")
    first, second = sorted(spans, key=lambda span: len(span.links))
    assert (first.links, second.links) == ((), (first.id,))
    assert first.trace != second.trace


async def test_a_session_of_another_replica_is_one_trace(
    tmp_path: Path, collector: Collector
) -> None:
    async with replicas(yard(tmp_path / "yard"), "--no-page", env=collector.env) as found:
        home, other = (server.url for server in found.servers)
        async with over_http(home, "2025-11-25") as client:
            client.url = other
            await client.call("who", {}, meta=CONTEXT)
            outer = await collector.one("tools/call who", "SERVER")
            run = await collector.one("script tool.sh", "INTERNAL")
    assert (outer.trace, outer.parent) == (TRACE, SPAN)
    assert (run.trace, run.parent) == (TRACE, outer.id)
