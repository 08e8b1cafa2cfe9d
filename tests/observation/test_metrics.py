"""What `/metrics` says of calls, tokens and the parts of a server."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.gateway.test_endpoints import get, page_token
from tests.gateway.yard import ECHO, SEARCH, TOTAL, Yard
from tests.observation.prometheus import prometheus
from tests.observation.scraped import scrape
from tests.peers.raw import MODERN
from tests.peers.raw_http import over_http
from tests.peers.serving import Listening, serving
from tests.until import until

SERVER = "mcp_server_operation_duration_seconds"
CLIENT = "mcp_client_operation_duration_seconds"
FAILING = {
    **ECHO,
    "name": "fail",
    "result": {"content": [{"type": "text", "text": "no"}], "isError": True},
}


def two_servers(yard: Yard) -> Yard:
    yard.script("hi", "echo hello", description="Says hello.")
    first, second = yard.upstream("u", SEARCH, FAILING), yard.upstream("v", ECHO, expose="all")
    tools = [
        {"name": "total", "server": "u", "originalName": "search", "outputSchema": TOTAL},
        {"name": "fail", "server": "u"},
        {"name": "broken", "server": "u", "originalName": "not-there"},
    ]
    yard.registry(servers=[first, second], tools=tools)
    return yard


async def test_requests_of_clients_and_to_servers_are_counted_by_tool_outcome_and_revision(
    yard: Yard,
) -> None:
    async with serving(two_servers(yard).root, "--no-page") as server:
        for revision in (MODERN, "2025-11-25"):
            async with over_http(server.url, revision) as client:
                await client.call("total", {"q": "x"})
                await client.call("fail", {})
                await client.call("hi", {})
        scraped = await scrape(server)
    for revision in (MODERN, "2025-11-25"):
        labels = {"mcp_protocol_version": revision, "network_transport": "tcp"}
        call = {"mcp_method_name": "tools/call", **labels}
        for tool, error in (("total", ""), ("fail", "tool_error"), ("hi", "")):
            named = {**call, "gen_ai_tool_name": tool, "error_type": error}
            assert scraped.value(f"{SERVER}_count", **named) == 1, (tool, revision)
        assert scraped.value(f"{SERVER}_count", **call) == 3
    sent = scraped.series(f"{CLIENT}_count", mcp_method_name="tools/call")
    assert {
        (labels["server"], labels["gen_ai_tool_name"], labels["error_type"]) for labels, _ in sent
    } == {
        ("u", "search", ""),
        ("u", "fail", "tool_error"),
    }
    assert all(labels["network_transport"] == "pipe" for labels, _ in sent)
    assert scraped.value(f"{SERVER}_count", mcp_method_name="initialize") == 1


@pytest.mark.parametrize("said", [{}, {"isError": False}])
async def test_each_of_many_calls_is_counted_whatever_a_server_says_of_success(
    yard: Yard, said: dict[str, bool]
) -> None:
    works = {**ECHO, "result": {"content": [{"type": "text", "text": "yes"}], **said}}
    yard.registry(servers=[yard.upstream("u", works, expose="all", prefix="")])
    async with serving(yard.root, "--no-page") as server:
        async with over_http(server.url, MODERN) as client:
            for _ in range(5):
                await client.call("echo", {})
        scraped = await scrape(server)
    for name in (SERVER, CLIENT):
        assert scraped.value(f"{name}_count", gen_ai_tool_name="echo", error_type="") == 5, name


async def test_tokens_are_counted_in_out_and_saved_by_a_projection(yard: Yard) -> None:
    async with serving(two_servers(yard).root, "--no-page") as server:
        async with over_http(server.url, MODERN) as client:
            result = await client.call("total", {"q": "x"})
            await client.result("tools/list")
        scraped = await scrape(server)
    labels = {"gen_ai_tool_name": "total", "caller": "local"}
    (source,) = json.loads(json.dumps(SEARCH))["result"]["content"]
    text = result["content"][0]["text"]
    assert scraped.value("toolyard_tokens_in_total", **labels) == len('{"q":"x"}') / 4
    assert scraped.value("toolyard_tokens_out_total", **labels) == len(text) / 4
    saved = (len(source["text"]) - len(text)) / 4
    assert scraped.value("toolyard_tokens_saved_total", **labels) == saved
    assert scraped.value("toolyard_tokens_out_total", mcp_method_name="tools/list") > 50


async def test_a_name_that_nobody_serves_becomes_no_series(yard: Yard) -> None:
    two_servers(yard)
    async with serving(yard.root, "--no-page") as server:
        async with over_http(server.url, MODERN) as client:
            for number in range(20):
                await client.request("tools/call", {"name": f"made-up-{number}"})
            await client.request("tools/call", {"name": {"not": "a name"}})
            await client.request("no/such/method", {})
        scraped = await scrape(server)
    assert "made-up" not in scraped.text and "no/such" not in scraped.text
    unknown = {"mcp_method_name": "tools/call", "gen_ai_tool_name": "", "error_type": "-32602"}
    assert scraped.value(f"{SERVER}_count", **unknown) == 21
    assert scraped.value(f"{SERVER}_count", mcp_method_name="other") == 1


async def test_series_are_bounded_and_what_is_too_many_is_counted_as_other(yard: Yard) -> None:
    tools = [{**ECHO, "name": f"echo{number}"} for number in range(30)]
    yard.registry(servers=[yard.upstream("u", *tools, expose="all")])
    env = {"TOOLYARD_METRICS_SERIES": "10"}
    async with serving(yard.file, "--no-page", env=env) as server:
        async with over_http(server.url, MODERN) as client:
            for tool in tools:
                await client.call(str(tool["name"]), {})
        scraped = await scrape(server)
    for metric in (SERVER, CLIENT):
        assert len(scraped.series(f"{metric}_count")) <= 10 + 3
        calls = {"mcp_method_name": "tools/call"}
        assert scraped.value(f"{metric}_count", **calls) == 30
        other = scraped.value(f"{metric}_count", gen_ai_tool_name="other")
        assert 18 <= other == scraped.value("toolyard_metrics_folded_total", metric=metric)


async def test_the_parts_of_a_server_are_seen(yard: Yard) -> None:
    async with (
        serving(two_servers(yard).root, "--no-page") as server,
        over_http(server.url, "2025-11-25") as client,
    ):
        await client.call("fail", {})
        scraped = await scrape(server)
    assert scraped.value("toolyard_sessions") == 1
    assert scraped.value("toolyard_upstream_state", server="u", state="up") == 1
    assert scraped.value("toolyard_child_processes", kind="upstream") >= 1
    assert scraped.value("toolyard_catalog_entries", kind="tools") == 4
    for gauge in ("toolyard_parked_calls", "toolyard_script_queue_length"):
        assert scraped.series(gauge) == [({}, 0.0)]


async def test_metrics_need_what_mcp_needs_and_refusals_are_counted(yard: Yard) -> None:
    two_servers(yard)
    yard.write("toolyard.json", {"limits": [{"calls": 1, "seconds": 3600, "tools": ["fail"]}]})
    key = {"Authorization": f"Bearer {'t' * 32}"}
    async with serving(yard.root, env={"TOOLYARD_TOKEN": "t" * 32}) as server:
        assert (await get(server, "/metrics"))[0] == 401
        assert (await get(server, "/metrics", await page_token(server)))[0] == 401
        async with over_http(server.url, MODERN, headers=key) as client:
            for _ in range(3):
                await client.call("fail", {})
        scraped = await scrape(server, key)
        assert (await get(server, "/metrics", key, "POST"))[0] == 405
    assert scraped.value("toolyard_refused_credentials_total") == 2
    assert scraped.value("toolyard_limits_hit_total") == 2
    assert scraped.value("toolyard_calls_total", caller="token:token", gen_ai_tool_name="fail") == 3


async def test_without_metrics_nothing_is_there_to_scrape(yard: Yard) -> None:
    env = {"TOOLYARD_METRICS": "false"}
    async with serving(two_servers(yard).root, "--no-page", env=env) as server:
        assert (await get(server, "/metrics"))[0] == 404


@pytest.mark.skipif(not shutil.which("promtool"), reason="promtool is not installed (prometheus)")
async def test_promtool_accepts_what_is_exposed(yard: Yard) -> None:
    strange = {**ECHO, "name": 'qu"ote\\back'}
    yard.registry(servers=[yard.upstream("u", strange, ECHO, expose="all")])
    async with serving(yard.file, "--no-page") as server:
        async with over_http(server.url, MODERN, checked=False) as client:
            await client.call(str(strange["name"]), {})
        scraped = await scrape(server)
    assert scraped.value(f"{SERVER}_count", gen_ai_tool_name='qu\\"ote\\\\back') == 1
    linted = subprocess.run(
        ["promtool", "check", "metrics"], input=scraped.text, capture_output=True, text=True
    )
    assert (linted.returncode, linted.stdout, linted.stderr) == (0, "", "")


@pytest.mark.skipif(not shutil.which("prometheus"), reason="prometheus is not installed")
async def test_a_real_prometheus_scrapes_and_answers_queries(yard: Yard, tmp_path: Path) -> None:
    async with serving(two_servers(yard).root, "--no-page") as server:
        async with over_http(server.url, MODERN) as client:
            for _ in range(3):
                await client.call("total", {"q": "x"})
        async with prometheus(tmp_path / "prometheus", server.origin) as ask:
            calls = f'{SERVER}_count{{gen_ai_tool_name="total"}}'
            (series,) = await until(lambda: ask(calls))
            (up,) = await ask('up{job="toolyard"}')
    assert series["value"][1] == "3" and up["value"][1] == "1"


async def test_a_composition_saves_what_its_steps_answered_and_it_does_not(yard: Yard) -> None:
    """Steps that are projected save for the tool that uses them: nobody called them by name."""
    tools = [
        {"name": "total", "server": "u", "originalName": "search", "outputSchema": TOTAL},
        {
            "name": "both",
            "spec": {
                "pipeline": {
                    "steps": [
                        {"id": "all", "operation": {"tool": {"name": "raw"}}},
                        {"id": "sum", "operation": {"tool": {"name": "total"}}},
                    ]
                }
            },
        },
        {"name": "raw", "server": "u", "originalName": "search"},
    ]
    yard.registry(servers=[yard.upstream("u", SEARCH)], tools=tools)
    async with serving(yard.file, "--no-page") as server:
        async with over_http(server.url, MODERN) as client:
            result = await client.call("both", {"q": "x"})
        scraped = await scrape(server)
    (answer,) = json.loads(json.dumps(SEARCH))["result"]["content"]
    source, text = len(answer["text"]), result["content"][0]["text"]
    saved = (2 * source - len(text)) / 4
    assert scraped.value("toolyard_tokens_saved_total", gen_ai_tool_name="both") == saved
    assert scraped.value("toolyard_tokens_saved_total") == saved


async def test_what_a_view_and_a_limit_keep_from_a_model_is_saved(yard: Yard) -> None:
    long = {**ECHO, "name": "long", "result": {"content": [{"type": "text", "text": "x" * 9000}]}}
    many = [{**ECHO, "name": f"echo{n}", "description": "What it is for. " * 9} for n in range(30)]
    server_entry = yard.upstream("u", long, *many, expose="all")
    yard.registry(servers=[{**server_entry, "resultLimit": "4 kB"}])
    async with serving(yard.file, "--no-page") as server:
        async with over_http(server.url, MODERN) as client:
            full = await client.result("tools/list")
            part = await client.call("long", {})
        before = await scrape(server)
        async with over_http(f"{server.url}?view=search", MODERN) as client:
            short = await client.result("tools/list")
        after = await scrape(server)
    lists = {"mcp_method_name": "tools/list"}
    assert before.value("toolyard_tokens_saved_total", **lists) == 0
    seen = [len(json.dumps(listed["tools"], separators=(",", ":"))) / 4 for listed in (full, short)]
    saved = after.value("toolyard_tokens_saved_total", **lists)
    assert saved == pytest.approx(seen[0] - seen[1], rel=0.1)
    kept = (9000 - sum(len(item["text"]) for item in part["content"])) / 4
    cut = after.value("toolyard_tokens_saved_total", gen_ai_tool_name="long")
    assert cut == pytest.approx(kept, rel=0.05)


async def test_a_task_is_counted_while_it_runs(yard: Yard) -> None:
    go = yard.root / "go"
    yard.script("held", f"until [ -e {go} ]; do sleep 0.02; done", taskSupport="required")
    async with (
        serving(yard.root, "--no-page") as server,
        over_http(server.url, "2025-11-25") as client,
    ):
        assert (await scrape(server)).value("toolyard_tasks") == 0
        params = {"name": "held", "arguments": {}, "task": {"ttl": 600_000}}
        await client.result("tools/call", params)
        assert (await scrape(server)).value("toolyard_tasks") == 1
        go.touch()
        assert await until(lambda: _no_tasks(server))


async def _no_tasks(server: Listening) -> bool:
    return (await scrape(server)).value("toolyard_tasks") == 0
