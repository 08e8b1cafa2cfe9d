"""The transports against raw clients of every revision, over pipes and sockets."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from tests.peers.raw import RawClient, over_stdio
from tests.peers.raw_http import over_http, over_sse
from tests.peers.serving import listening

OLD = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
NEW = "2026-07-28"
ALL = (*OLD, NEW)
PROGRAM = [sys.executable, "-m", "tests.peers.inmemory"]
WHO: dict[str, Any] = {
    "elicitation/create": {"action": "accept", "content": {"name": "Ann"}},
    "roots/list": {"roots": [{"uri": "file:///a"}, {"uri": "file:///b"}]},
}
ABLE: dict[str, Any] = {"elicitation": {}, "roots": {}}


@asynccontextmanager
async def connected(way: str, revision: str, **options: Any) -> AsyncIterator[RawClient]:
    if way == "stdio":
        async with over_stdio([*PROGRAM, "stdio"], revision, **options) as client:
            yield client
        return
    async with listening([*PROGRAM, "http"]) as server:
        opened = (
            over_http(server.url, revision, **options)
            if way == "http"
            else over_sse(f"{server.origin}/sse", **options)
        )
        async with opened as client:
            yield client


WAYS = [*(("stdio", r) for r in ALL), *(("http", r) for r in ALL[1:]), ("sse", "2024-11-05")]
every_way = pytest.mark.parametrize(("way", "revision"), WAYS)


@every_way
async def test_a_client_of_each_revision_lists_and_calls(way: str, revision: str) -> None:
    async with connected(way, revision) as client:
        listed = await client.result("tools/list")
        assert [tool["name"] for tool in listed["tools"]][:2] == ["echo", "fail"]
        assert listed["_meta"]["mcpbash/total"] == 10
        result = await client.call("echo", {"name": "Ann"})
        assert result["content"] == [{"type": "text", "text": "Ann"}]


@every_way
async def test_definitions_have_the_fields_of_the_revision(way: str, revision: str) -> None:
    async with connected(way, revision) as client:
        tool = (await client.result("tools/list"))["tools"][0]
    assert ("annotations" in tool) == (revision >= "2025-03-26")
    assert ("title" in tool) == (revision >= "2025-06-18")
    assert ("outputSchema" in tool) == (revision >= "2025-06-18")
    assert ("icons" in tool) == (revision >= "2025-11-25")
    assert tool["x-vendor"] == "kept"


@every_way
async def test_results_are_shaped_for_the_revision(way: str, revision: str) -> None:
    async with connected(way, revision) as client:
        result = await client.call("kinds")
    kinds = [block["type"] for block in result["content"]]
    assert (kinds[1] == "audio") == (revision >= "2025-03-26")
    assert (kinds[2] == "resource_link") == (revision >= "2025-06-18")
    assert ("structuredContent" in result) == (revision == NEW)
    assert ("resultType" in result) == (revision == NEW)
    assert ("lastModified" in result["content"][0]["annotations"]) == (revision >= "2025-06-18")
    assert result["content"][0]["x-vendor"] == 1
    assert result["_meta"]["vendor/key"] == "kept"
    assert result["vendorField"] is True


@every_way
async def test_a_tool_reports_before_it_answers(way: str, revision: str) -> None:
    meta = {"progressToken": "t1"}
    if revision == NEW:
        meta["io.modelcontextprotocol/logLevel"] = "info"
    async with connected(way, revision) as client:
        await client.call("steps", meta=meta)
        heard = [m["params"] for m in client.notifications if "progress" in m["method"]]
        logged = [m["params"] for m in client.notifications if "message" in m["method"]]
        assert "result" in client.heard[-1]
    assert [p["progress"] for p in heard] == [1, 2]
    assert all(p["progressToken"] == "t1" and p["total"] == 2 for p in heard)
    assert ("message" in heard[0]) == (revision >= "2025-03-26")
    assert logged == [{"level": "warning", "data": "careful", "logger": "steps"}]


@every_way
async def test_failures_are_told_to_who_must_act(way: str, revision: str) -> None:
    async with connected(way, revision) as client:
        failed = await client.call("fail")
        assert failed["isError"] is True
        assert failed["content"][0]["text"] == "it did not work"
        wrong = await client.call("echo", {"name": 3})
        assert wrong["isError"] is True
        assert "/name" in wrong["content"][0]["text"]
        crashed = await client.error("tools/call", {"name": "crash"})
        assert crashed == {"code": -32603, "message": "Internal error"}
        refused = await client.error("tools/call", {"name": "refuse"})
        assert refused == {"code": -31000, "message": "no", "data": {"why": "own code"}}
        unknown = await client.error("tools/call", {"name": "nope"})
        assert unknown["code"] == -32602
        missing = await client.error("resources/read", {"uri": "test://nope"})
        assert missing["code"] == (-32602 if revision == NEW else -32002)
        assert missing["data"] == {"uri": "test://nope"}


@every_way
async def test_a_stateless_question_reaches_every_client(way: str, revision: str) -> None:
    async with connected(way, revision, capabilities=ABLE, answers=WHO) as client:
        result = await client.call("ask_stateless")
        assert result["content"][0]["text"] == "plain text: 2 roots"


@pytest.mark.parametrize(("way", "revision"), [w for w in WAYS if w[1] >= "2025-06-18"])
async def test_a_running_tool_asks_its_client(way: str, revision: str) -> None:
    async with connected(way, revision, capabilities=ABLE, answers=WHO) as client:
        result = await client.call("ask")
        assert result["content"][0]["text"] == "Hello Ann"


@every_way
async def test_a_client_that_cannot_be_asked_gets_a_clear_error(way: str, revision: str) -> None:
    async with connected(way, revision) as client:
        response = await client.request("tools/call", {"name": "ask", "arguments": {}})
    if revision == NEW:
        assert response["error"]["code"] == -32021
        assert response["error"]["data"] == {"requiredCapabilities": {"elicitation": {}}}
    else:
        assert response["result"]["isError"] is True
        assert "elicitation" in response["result"]["content"][0]["text"]


@pytest.mark.parametrize(("way", "revision"), [w for w in WAYS if w[1] != NEW])
async def test_ping_and_log_level_belong_to_a_session(way: str, revision: str) -> None:
    async with connected(way, revision) as client:
        assert await client.result("ping") == {}
        assert await client.result("logging/setLevel", {"level": "emergency"}) == {}
        await client.call("steps")
        assert not [m for m in client.notifications if m["method"] == "notifications/message"]
        assert (await client.error("logging/setLevel", {"level": "loud"}))["code"] == -32602


@pytest.mark.parametrize("way", ["stdio", "http"])
async def test_modern_clients_have_no_session_methods(way: str) -> None:
    async with connected(way, NEW) as client:
        for method in ("initialize", "ping", "logging/setLevel", "resources/subscribe"):
            assert (await client.error(method, {"uri": "test://thing"}))["code"] == -32601


@pytest.mark.parametrize("revision", OLD)
async def test_initialize_negotiates(revision: str) -> None:
    async with connected("stdio", revision) as client:
        assert client.server["protocolVersion"] == revision
        assert client.server["instructions"] == "Be kind."
        assert ("title" in client.server["serverInfo"]) == (revision >= "2025-06-18")
        assert ("completions" in client.server["capabilities"]) == (revision >= "2025-03-26")


async def test_an_unknown_revision_is_answered_with_our_latest() -> None:
    async with connected("stdio", "2025-11-25", start=False) as client:
        hello = {"protocolVersion": "1999-01-01", "capabilities": {}, "clientInfo": {}}
        result = await client.result("initialize", hello)
        assert result["protocolVersion"] == "2025-11-25"


async def test_nothing_but_ping_is_answered_before_initialized() -> None:
    async with connected("stdio", "2025-11-25", start=False) as client:
        assert await client.result("ping") == {}
        assert (await client.error("tools/list"))["code"] == -32000
        assert (await client.error("no/such"))["code"] == -32601


async def test_both_eras_share_one_stdio_connection() -> None:
    async with connected("stdio", "2025-11-25") as client:
        old = await client.result("tools/list")
        meta = {
            "io.modelcontextprotocol/protocolVersion": NEW,
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        client.checked = False
        new = await client.result("tools/list", meta=meta)
        client.checked = True
        assert "resultType" not in old
        assert new["resultType"] == "complete"
