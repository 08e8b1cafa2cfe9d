"""What else becomes a span, what is linked, and what becomes of spans that nobody takes."""

from __future__ import annotations

import pytest

from tests.gateway.yard import SEARCH, TOTAL, Yard
from tests.observation.collector import Collector
from tests.observation.scraped import scrape
from tests.observation.test_traces import upstream
from tests.peers.raw import MODERN
from tests.peers.raw_http import over_http
from tests.peers.serving import serving
from tests.until import until


async def test_a_projection_is_a_span_within_its_call(yard: Yard, collector: Collector) -> None:
    tool = {"name": "total", "server": "u", "originalName": "search", "outputSchema": TOTAL}
    yard.registry(servers=[yard.upstream("u", SEARCH)], tools=[tool])
    async with (
        serving(yard.file, "--no-page", env=collector.env) as server,
        over_http(server.url, MODERN) as client,
    ):
        await client.call("total", {"q": "x"})
        outer = await collector.one("tools/call total", "SERVER")
        projection = await collector.one("projection", "INTERNAL")
        scraped = await scrape(server)
    assert projection.parent == outer.id
    assert scraped.value("toolyard_tokens_saved_total", gen_ai_tool_name="total") > 0


async def test_a_retry_is_linked_to_the_request_that_was_asked(
    yard: Yard, collector: Collector
) -> None:
    yard.script("ask", '. "$MCP_SDK/tool-sdk.sh"; mcp_elicit_string Who name; echo ok')
    answers = {"elicitation/create": {"action": "accept", "content": {"name": "Ann"}}}
    async with (
        serving(yard.root, "--no-page", env=collector.env) as server,
        over_http(server.url, MODERN, capabilities={"elicitation": {}}, answers=answers) as client,
    ):
        await client.call("ask", {})
        await until(lambda: len(collector.named("tools/call ask", "SERVER")) == 2)
    first, second = collector.named("tools/call ask", "SERVER")
    assert (first.links, second.links) == ((), (first.id,))


async def test_listening_to_a_server_is_a_span(yard: Yard, collector: Collector) -> None:
    yard.registry(servers=[upstream(yard.root / "lines.log", MODERN)])
    async with (
        serving(yard.file, "--no-page", env=collector.env) as server,
        over_http(server.url, MODERN) as client,
    ):
        await client.call("whoami", {})
    span = await collector.one("subscriptions/listen", "CLIENT")
    assert span.attributes["toolyard.server.name"] == "up"


@pytest.mark.parametrize("queue", ["1", "2048"])
async def test_spans_that_no_collector_takes_are_counted(yard: Yard, queue: str) -> None:
    """Too many at once, or nobody there: calls go on. Three calls and their runs are six spans."""
    yard.script("hi", "echo hi")
    env = {
        "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://127.0.0.1:9/v1/traces",
        "OTEL_EXPORTER_OTLP_TIMEOUT": "1",
        "OTEL_BSP_MAX_QUEUE_SIZE": queue,
        "OTEL_BSP_SCHEDULE_DELAY": "60000" if queue == "1" else "50",
    }
    async with (
        serving(yard.root, "--no-page", env=env) as server,
        over_http(server.url, MODERN) as client,
    ):
        for _ in range(3):
            await client.call("hi", {})

        async def dropped() -> bool:
            return (await scrape(server)).value("toolyard_spans_dropped_total") >= 6

        assert await until(dropped)
        if queue == "1":
            assert await server.says("spans are dropped: 1 wait already")
