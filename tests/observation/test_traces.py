"""Spans as a collector gets them: parents, kinds and attributes, in every pair of eras."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.gateway.yard import ECHO, Yard
from tests.observation.collector import Collector
from tests.peers.raw import MODERN, over_stdio
from tests.peers.raw_http import over_http, over_sse
from tests.peers.serving import ROOT, serving, toolyard
from tests.until import until

REVISIONS = ("2024-11-05", "2025-11-25", MODERN)
TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
PARENT = f"00-{TRACE}-{SPAN}-01"
TELLTALE = str(ROOT / "tests" / "gateway" / "telltale.py")


def upstream(log: Path, revision: str) -> dict[str, Any]:
    """A server on pipes that writes down each line that it gets."""
    era = {"eras": ["modern"]} if revision == MODERN else {"eras": ["handshake"]}
    options = {**era, "version": revision, "log": str(log)}
    return {
        "name": "up",
        "stdio": {"command": sys.executable, "args": [TELLTALE, json.dumps(options)]},
        "expose": "all",
    }


def sent(log: Path, method: str = "tools/call") -> dict[str, Any]:
    """The last request of that method that the server got."""
    messages = [json.loads(line) for line in log.read_text().splitlines()]
    found: dict[str, Any] = [m for m in messages if m.get("method") == method][-1]
    return found


def meta(message: Mapping[str, Any]) -> Mapping[str, Any]:
    found: Mapping[str, Any] = message["params"]["_meta"]
    return found


@pytest.mark.parametrize("upstream_revision", REVISIONS)
@pytest.mark.parametrize("client_revision", REVISIONS[1:])
async def test_the_client_is_our_parent_and_we_are_the_servers(
    yard: Yard, collector: Collector, client_revision: str, upstream_revision: str
) -> None:
    log = yard.root / "lines.log"
    yard.registry(servers=[upstream(log, upstream_revision)])
    async with (
        serving(yard.file, "--no-page", env=collector.env) as server,
        over_http(server.url, client_revision) as client,
    ):
        context = {"traceparent": PARENT, "tracestate": "a=b", "baggage": "user=ann"}
        await client.call("whoami", {}, meta=context)
        outer = await collector.one("tools/call whoami", "SERVER")
        inner = await collector.one("tools/call whoami", "CLIENT")
    assert (outer.trace, outer.parent, outer.state) == (TRACE, SPAN, "a=b")
    assert (inner.trace, inner.parent) == (TRACE, outer.id)
    told = meta(sent(log))
    assert told["traceparent"] == f"00-{TRACE}-{inner.id}-01"
    assert (told["tracestate"], told["baggage"]) == ("a=b", "user=ann")
    assert inner.attributes["mcp.protocol.version"] == upstream_revision
    assert outer.attributes["mcp.protocol.version"] == client_revision


async def test_spans_have_the_attributes_of_the_conventions(
    yard: Yard, collector: Collector
) -> None:
    yard.registry(servers=[yard.upstream("u", ECHO, expose="all")])
    async with (
        serving(yard.file, "--no-page", env=collector.env) as server,
        over_http(server.url, "2025-11-25") as client,
    ):
        await client.call("echo", {"secret": "not for spans"})
        outer = await collector.one("tools/call echo", "SERVER")
        inner = await collector.one("tools/call echo", "CLIENT")
    session, request = (outer.attributes.pop(k) for k in ("mcp.session.id", "jsonrpc.request.id"))
    assert session and request
    common = {
        "mcp.method.name": "tools/call",
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "echo",
        "mcp.protocol.version": "2025-11-25",
    }
    assert outer.attributes == {
        **common,
        "network.transport": "tcp",
        "client.address": "127.0.0.1",
    }
    assert inner.attributes.pop("jsonrpc.request.id")
    assert inner.attributes == {
        **common,
        "mcp.protocol.version": inner.attributes["mcp.protocol.version"],
        "network.transport": "pipe",
        "server.address": "u",
        "toolyard.server.name": "u",
    }
    assert not outer.parent and not outer.failed


async def test_failures_are_named_though_http_says_200(yard: Yard, collector: Collector) -> None:
    result = {"content": [{"type": "text", "text": "no"}], "isError": True}
    failing = {**ECHO, "name": "fail", "result": result}
    broken = {**ECHO, "name": "break", "error": {"code": -32050, "message": "broken"}}
    yard.registry(servers=[yard.upstream("u", failing, broken, expose="all")])
    async with (
        serving(yard.file, "--no-page", env=collector.env) as server,
        over_http(server.url, MODERN, checked=False) as client,
    ):
        for name in ("fail", "break", "gone"):
            await client.request("tools/call", {"name": name})
        failed = [await collector.one(f"tools/call {n}", "SERVER") for n in ("fail", "break")]
        unknown = await collector.one("tools/call gone", "SERVER")
        inner = await collector.one("tools/call break", "CLIENT")
    errors = [(span.failed, span.attributes["error.type"]) for span in (*failed, inner, unknown)]
    assert errors == [(True, "tool_error"), (True, "-32050"), (True, "-32050"), (True, "-32602")]
    assert failed[1].attributes["rpc.response.status_code"] == "-32050"


async def test_context_in_http_headers_is_taken_and_goes_out_in_headers_too(
    yard: Yard, collector: Collector
) -> None:
    """Two gateways in a row; the first is told in the header alone."""
    log = yard.root / "lines.log"
    inner_file = yard.write("inner.json", {"servers": [upstream(log, "2024-11-05")]})
    second_env = {**collector.env, "OTEL_SERVICE_NAME": "second"}
    async with serving(inner_file, "--no-page", env=second_env) as second:
        yard.registry(servers=[{"name": "second", "url": second.url, "expose": "all"}])
        first_env = {**collector.env, "OTEL_SERVICE_NAME": "first"}
        async with (
            serving(yard.file, "--no-page", env=first_env) as first,
            over_http(first.url, MODERN, headers={"traceparent": PARENT}) as client,
        ):
            await client.call("whoami", {})
            spans = [
                await collector.one("tools/call whoami", kind, service)
                for service in ("first", "second")
                for kind in ("SERVER", "CLIENT")
            ]
    assert {span.trace for span in spans} == {TRACE}
    parents = [SPAN, *(span.id for span in spans[:-1])]
    assert [span.parent for span in spans] == parents
    assert meta(sent(log))["traceparent"] == f"00-{TRACE}-{spans[-1].id}-01"
    assert spans[1].attributes["server.address"] == "127.0.0.1"


async def test_over_stdio_too(yard: Yard, collector: Collector) -> None:
    log = yard.root / "lines.log"
    yard.registry(servers=[upstream(log, "2024-11-05")])
    command = toolyard("serve", yard.file)
    async with over_stdio(command, "2025-11-25", env=collector.env) as client:
        await client.call("whoami", {}, meta={"traceparent": PARENT})
        outer = await collector.one("tools/call whoami", "SERVER")
        inner = await collector.one("tools/call whoami", "CLIENT")
    assert (outer.parent, inner.parent) == (SPAN, outer.id)
    assert outer.attributes["network.transport"] == "pipe"
    assert "mcp.session.id" not in outer.attributes


async def test_a_call_that_fans_out_is_one_server_span_and_many_client_spans(
    yard: Yard, collector: Collector
) -> None:
    servers = [yard.upstream(f"u{n}", {**ECHO, "name": f"echo{n}"}) for n in range(3)]
    tools: list[dict[str, Any]] = [{"name": f"echo{n}", "server": f"u{n}"} for n in range(3)]
    targets = [{"tool": f"echo{n}"} for n in range(3)]
    tools.append(
        {"name": "all", "spec": {"scatterGather": {"targets": targets, "aggregation": {"ops": []}}}}
    )
    yard.registry(servers=servers, tools=tools)
    async with (
        serving(yard.file, "--no-page", env=collector.env) as server,
        over_http(server.url, MODERN) as client,
    ):
        await client.call("all", {})
        outer = await collector.one("tools/call all", "SERVER")
        inner = [await collector.one(f"tools/call echo{n}", "CLIENT") for n in range(3)]
    assert [span.parent for span in inner] == [outer.id] * 3


async def test_a_script_is_told_of_its_span(yard: Yard, collector: Collector) -> None:
    yard.script("where", 'printf "%s|%s" "$TRACEPARENT" "$BAGGAGE"')
    command = toolyard("serve", yard.root)
    async with over_stdio(command, "2025-11-25", env=collector.env) as client:
        context = {"traceparent": PARENT, "baggage": "a=1"}
        result = await client.call("where", {}, meta=context)
        outer = await collector.one("tools/call where", "SERVER")
        run = await collector.one("script tool.sh", "INTERNAL")
    assert run.parent == outer.id
    assert result["content"][0]["text"] == f"00-{TRACE}-{run.id}-01|a=1"
    assert run.attributes["process.exit.code"] == 0


async def test_a_client_of_the_older_pair_is_followed_too(yard: Yard, collector: Collector) -> None:
    log = yard.root / "lines.log"
    yard.registry(servers=[upstream(log, MODERN)])
    async with (
        serving(yard.file, "--no-page", env=collector.env) as server,
        over_sse(f"{server.origin}/sse") as client,
    ):
        await client.call("whoami", {}, meta={"traceparent": PARENT})
        outer = await collector.one("tools/call whoami", "SERVER")
        inner = await collector.one("tools/call whoami", "CLIENT")
    assert outer.attributes["mcp.protocol.version"] == "2024-11-05"
    assert (outer.parent, inner.parent) == (SPAN, outer.id)


async def test_each_request_of_a_call_that_asks_has_its_own_span(
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
        run = await collector.one("script tool.sh", "INTERNAL")
    requests = collector.named("tools/call ask", "SERVER")
    assert run.parent in {span.id for span in requests}
    assert len({span.attributes["jsonrpc.request.id"] for span in requests}) == 2


async def test_waiting_and_deciding_are_seen(yard: Yard, collector: Collector) -> None:
    yard.script("slow", "sleep 0.2; echo ok")
    yard.write("server.d/policy.sh", "mcp_tools_policy_check() { return 0; }\n")
    env = {"MCPBASH_MAX_CONCURRENT_REQUESTS": "1"}
    async with (
        serving(yard.root, "--no-page", env={**collector.env, **env}) as server,
        over_http(server.url, MODERN) as client,
    ):
        await asyncio.gather(client.call("slow", {}), client.call("slow", {}))
        queue = await collector.one("queue", "INTERNAL")
        await until(lambda: len(collector.named("tools/call slow", "SERVER")) == 2)
    calls = {span.id for span in collector.named("tools/call slow", "SERVER")}
    runs = {span.id for span in collector.named("script tool.sh", "INTERNAL")}
    policies = collector.named("policy slow", "INTERNAL")
    assert queue.parent in runs and {span.parent for span in policies} == calls


async def test_a_client_may_be_linked_to_instead_of_followed(
    yard: Yard, collector: Collector
) -> None:
    yard.script("hi", "echo hi")
    env = {"TOOLYARD_TRACE_CONTEXT": "link"}
    async with (
        serving(yard.root, "--no-page", env={**collector.env, **env}) as server,
        over_http(server.url, MODERN) as client,
    ):
        await client.call("hi", {}, meta={"traceparent": PARENT})
        span = await collector.one("tools/call hi", "SERVER")
    assert (span.trace != TRACE, span.parent, span.links) == (True, "", (SPAN,))


async def test_what_is_not_sampled_is_passed_on_and_not_sent(
    yard: Yard, collector: Collector
) -> None:
    log = yard.root / "lines.log"
    yard.registry(servers=[upstream(log, "2025-11-25")])
    async with (
        serving(yard.file, "--no-page", env=collector.env) as server,
        over_http(server.url, MODERN) as client,
    ):
        unsampled = PARENT.removesuffix("1") + "0"
        await client.call("whoami", {}, meta={"traceparent": unsampled})
        await client.result("tools/list")
        await collector.one("tools/list", "SERVER")
    assert not collector.named("tools/call whoami")
    told = meta(sent(log))["traceparent"]
    assert told.startswith(f"00-{TRACE}-") and told.endswith("-00") and SPAN not in told


async def test_metrics_go_out_by_the_names_that_prometheus_sees(
    yard: Yard, collector: Collector
) -> None:
    yard.registry(servers=[yard.upstream("u", ECHO, expose="all")])
    command = toolyard("serve", yard.file)
    async with over_stdio(command, "2025-11-25", env=collector.env) as client:
        await client.call("echo", {})
    histogram = collector.metrics["mcp_server_operation_duration_seconds"].histogram
    labels = [{p.key: p.value.string_value for p in d.attributes} for d in histogram.data_points]
    calls = [each for each in labels if each["gen_ai_tool_name"] == "echo"]
    assert calls == [
        {
            "mcp_method_name": "tools/call",
            "gen_ai_tool_name": "echo",
            "error_type": "",
            "network_transport": "pipe",
            "mcp_protocol_version": "2025-11-25",
        }
    ]
    assert {"mcp_client_operation_duration_seconds", "toolyard_tokens_out_total"} <= set(
        collector.metrics
    )


async def test_log_lines_say_which_trace_they_belong_to(yard: Yard, collector: Collector) -> None:
    yard.script("loud", "echo said >&2; echo ok")
    env = {"MCPBASH_TOOL_STREAM_STDERR": "true"}
    async with (
        serving(
            yard.root, "--no-page", "--log-format", "json", env={**collector.env, **env}
        ) as server,
        over_http(server.url, MODERN) as client,
    ):
        await client.call("loud", {}, meta={"traceparent": PARENT})
        line = (await server.says(r"(\{.*said.*\})"))[1]
    record = json.loads(line)
    assert record["trace_id"] == TRACE and len(record["span_id"]) == 16
