"""Streamable HTTP: sessions, streams, headers, guards, and HTTP/1.1 itself."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.peers.http1 import fetch
from tests.peers.raw_http import over_http
from tests.peers.serving import Listening, listening

pytestmark = pytest.mark.asyncio(loop_scope="module")
PROGRAM = [sys.executable, "-m", "tests.peers.inmemory", "http"]
OLD, NEW = "2025-11-25", "2026-07-28"
JSON = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
PREFIX = "io.modelcontextprotocol/"
META = {PREFIX + "protocolVersion": NEW, PREFIX + "clientCapabilities": {}}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server() -> AsyncIterator[Listening]:
    async with listening(PROGRAM) as running:
        yield running


async def raw(server: Listening, request: bytes) -> bytes:
    """Everything that the server says to these bytes until it hangs up."""
    host, port = server.origin.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(request)
    async with asyncio.timeout(10):
        said = await reader.read()
    writer.close()
    return said


def call(method: str, params: dict[str, Any] | None = None, **more: Any) -> bytes:
    return json.dumps(
        {"jsonrpc": "2.0", "id": 1, "method": method, "params": params, **more}
    ).encode()


def routed(method: str, **more: str) -> dict[str, str]:
    return {**JSON, "MCP-Protocol-Version": NEW, "Mcp-Method": method, **more}


async def status_of(server: Listening, headers: dict[str, str], body: bytes) -> tuple[int, Any]:
    async with fetch("POST", server.url, headers, body) as reply:
        said = await reply.body()
    return reply.status, json.loads(said) if said else None


# -- sessions ------------------------------------------------------------------------


async def test_a_session_ends_with_delete(server: Listening) -> None:
    async with over_http(server.url, OLD) as client:
        assert await client.result("ping") == {}
        assert await client.delete() in (200, 204)
        posted = await client.post(client.message("ping"))
        assert posted.status == 404


async def test_what_runs_when_a_session_is_ended_is_answered(server: Listening) -> None:
    async with over_http(server.url, OLD) as client:
        seen = len(server.stderr)
        call = asyncio.create_task(client.post(client.message("tools/call", {"name": "hang"})))
        await server.says("hang began", seen)
        assert await client.delete() in (200, 204)
        async with asyncio.timeout(10):
            assert (await call).status == 404
        await server.says("hang was cancelled", seen)


async def test_a_stream_ends_with_its_session(server: Listening) -> None:
    async with over_http(server.url, OLD, checked=False) as client:
        message = client.message("tools/call", {"name": "hang"})
        message["params"]["_meta"] = {"progressToken": 1}
        async with asyncio.timeout(10), client.stream(message) as reply:
            async for event in reply.events():
                if event.data:
                    assert await client.delete() in (200, 204)


async def test_a_request_without_a_session_is_refused(server: Listening) -> None:
    status, said = await status_of(server, JSON, call("tools/list"))
    assert (status, said["error"]["code"]) == (400, -32600)
    status, said = await status_of(server, {**JSON, "Mcp-Session-Id": "nope"}, call("tools/list"))
    assert (status, said["error"]["code"]) == (404, -32600)


async def test_an_unknown_version_header_on_a_session_is_400(server: Listening) -> None:
    async with over_http(server.url, OLD) as client:
        posted = await client.post(client.message("ping"), {"MCP-Protocol-Version": "1999-01-01"})
        assert posted.status == 400


async def test_two_sessions_with_the_same_ids_never_see_each_other(server: Listening) -> None:
    async with over_http(server.url, OLD) as one, over_http(server.url, OLD) as two:
        answers = await asyncio.gather(
            *(
                client.call("echo", {"name": f"{number}-{i}"}, id=i)
                for number, client in enumerate((one, two))
                for i in range(20)
            )
        )
        names = [answer["content"][0]["text"] for answer in answers]
        assert names == [f"{number}-{i}" for number in range(2) for i in range(20)]


async def test_a_plain_answer_is_json_and_no_stream(server: Listening) -> None:
    async with over_http(server.url, OLD) as client, client.stream(client.message("ping")) as reply:
        assert reply.headers["content-type"] == "application/json"


async def test_a_stream_can_be_resumed_where_it_broke_off(server: Listening) -> None:
    async with over_http(server.url, OLD, checked=False) as client:
        message = client.message("tools/call", {"name": "steps", "arguments": {}})
        message["params"]["_meta"] = {"progressToken": 1}
        async with client.stream(message) as reply:
            events = [event async for event in reply.events()]
            first = events[0]
        assert first.data == ""
        headers = {"Last-Event-ID": first.id or "", "Accept": "text/event-stream"}
        headers["Mcp-Session-Id"] = client.session or ""
        async with fetch("GET", server.url, headers) as again:
            replayed = [json.loads(e.data) async for e in again.events() if e.data]
        assert [m.get("method", "answer") for m in replayed][-1] == "answer"
        assert len(replayed) == 4


async def test_leaving_is_no_cancellation_on_a_session(server: Listening) -> None:
    async with over_http(server.url, OLD, checked=False) as client:
        message = client.message("tools/call", {"name": "hang", "arguments": {}}, id="h")
        message["params"]["_meta"] = {"progressToken": 1}
        async with client.stream(message) as reply:
            async for event in reply.events():
                if event.data:
                    break
        seen = len(server.stderr)
        assert await client.result("ping") == {}
        assert "hang was cancelled" not in server.stderr[seen:]
        await client.notify("notifications/cancelled", {"requestId": "h"})
        await server.says("hang was cancelled", seen)


async def test_leaving_is_cancellation_for_a_modern_client(server: Listening) -> None:
    async with over_http(server.url, NEW, checked=False) as client:
        seen = len(server.stderr)
        message = client.message("tools/call", {"name": "hang", "arguments": {}})
        message["params"]["_meta"]["progressToken"] = 1
        async with client.stream(message) as reply:
            async for _ in reply.events():
                break
        await server.says("hang was cancelled", seen)


# -- the modern ladder ---------------------------------------------------------------

LADDER: dict[str, tuple[dict[str, str], bytes, int, int]] = {
    "not JSON": (routed("tools/list"), b"{", 400, -32700),
    "no envelope": (routed("tools/list"), call("tools/list", {}), 400, -32602),
    "no capabilities": (
        routed("tools/list"),
        call("tools/list", {"_meta": {PREFIX + "protocolVersion": NEW}}),
        400,
        -32602,
    ),
    "no method header": (
        {**JSON, "MCP-Protocol-Version": NEW},
        call("tools/list", {"_meta": META}),
        400,
        -32020,
    ),
    "no version header": (
        {**JSON, "Mcp-Method": "tools/list"},
        call("tools/list", {"_meta": META}),
        400,
        -32020,
    ),
    "another method": (routed("tools/call"), call("tools/list", {"_meta": META}), 400, -32020),
    "another name": (
        routed("tools/call", **{"Mcp-Name": "fail"}),
        call("tools/call", {"name": "echo", "_meta": META}),
        400,
        -32020,
    ),
    "an unknown version": (
        {**routed("tools/list"), "MCP-Protocol-Version": "2099-01-01"},
        call("tools/list", {"_meta": {**META, PREFIX + "protocolVersion": "2099-01-01"}}),
        400,
        -32022,
    ),
    "an unknown method": (routed("no/such"), call("no/such", {"_meta": META}), 404, -32601),
    "an unknown log level": (
        routed("tools/list"),
        call("tools/list", {"_meta": {**META, PREFIX + "logLevel": "loud"}}),
        400,
        -32602,
    ),
    "a missing parameter header": (
        routed("tools/call", **{"Mcp-Name": "headed"}),
        call("tools/call", {"name": "headed", "arguments": {"region": "eu"}, "_meta": META}),
        400,
        -32020,
    ),
    "a batch": (
        routed("tools/list"),
        b"[" + call("tools/list", {"_meta": META}) + b"]",
        400,
        -32600,
    ),
    "a broken base64 header": (
        routed("tools/call", **{"Mcp-Name": "=?base64?***?="}),
        call("tools/call", {"name": "echo", "_meta": META}),
        400,
        -32020,
    ),
}


@pytest.mark.parametrize("what", LADDER)
async def test_a_modern_request_is_checked_in_order(server: Listening, what: str) -> None:
    headers, body, status, code = LADDER[what]
    got, said = await status_of(server, headers, body)
    assert (got, said["error"]["code"]) == (status, code)


async def test_headers_may_be_base64_and_are_trimmed(server: Listening) -> None:
    body = call("tools/call", {"name": "headed", "arguments": {"region": "Zürich"}, "_meta": META})
    headers = routed(
        "tools/call", **{"Mcp-Name": " headed ", "Mcp-Param-Region": "=?base64?WsO8cmljaA==?="}
    )
    status, said = await status_of(server, headers, body)
    assert status == 200
    assert said["result"]["resultType"] == "complete"


async def test_get_and_delete_are_not_allowed_for_modern_clients(server: Listening) -> None:
    for method in ("GET", "DELETE"):
        async with fetch(method, server.url, {"MCP-Protocol-Version": NEW}) as reply:
            assert reply.status == 405
            assert reply.headers["allow"] == "POST"


async def test_a_sealed_state_is_bound_to_its_call(server: Listening) -> None:
    able: dict[str, Any] = {"elicitation": {}, "roots": {}}
    async with over_http(server.url, NEW, capabilities=able, checked=False) as client:
        asked = await client.result("tools/call", {"name": "ask", "arguments": {}})
        state = asked["requestState"]
        answer = {"who": {"action": "accept", "content": {"name": "Eve"}}}
        for wrong in (
            {"name": "ask_stateless", "arguments": {}, "requestState": state},
            {"name": "ask", "arguments": {"x": 1}, "requestState": state},
            {"name": "ask", "arguments": {}, "requestState": state[:-2] + "AA"},
            {"name": "ask", "arguments": {}, "requestState": "garbage"},
        ):
            error = await client.error("tools/call", {**wrong, "inputResponses": answer})
            assert error["code"] == -32602
        right = {"name": "ask", "arguments": {}, "requestState": state, "inputResponses": answer}
        assert (await client.result("tools/call", right))["content"][0]["text"] == "Hello Eve"
        again = await client.error("tools/call", right)
        assert again["code"] == -32602


async def test_a_missing_answer_is_asked_for_again(server: Listening) -> None:
    async with over_http(server.url, NEW, capabilities={"elicitation": {}}) as client:
        params: dict[str, Any] = {"name": "ask", "arguments": {}}
        asked = await client.result("tools/call", params)
        partial = {**params, "requestState": asked["requestState"], "inputResponses": {"other": {}}}
        again = await client.result("tools/call", partial)
        assert again["resultType"] == "input_required"
        assert again["inputRequests"] == asked["inputRequests"]


# -- the guard -----------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/mcp", "/mcp/", "/sse", "/messages", "/healthz", "/nowhere"])
async def test_a_foreign_host_or_origin_is_403_on_every_route(server: Listening, path: str) -> None:
    host = server.origin.removeprefix("http://")
    for headers in ("Host: evil.example", f"Host: {host}\r\nOrigin: http://evil.example"):
        request = f"GET {path} HTTP/1.1\r\n{headers}\r\nConnection: close\r\n\r\n"
        assert (await raw(server, request.encode())).startswith(b"HTTP/1.1 403 ")


async def test_a_local_page_may_ask_first(server: Listening) -> None:
    headers = {"Origin": "http://localhost:3000", "Access-Control-Request-Method": "POST"}
    async with fetch("OPTIONS", server.url, headers) as reply:
        assert reply.status == 204
        assert reply.headers["access-control-allow-origin"] == "http://localhost:3000"
        assert "mcp-session-id" in reply.headers["access-control-allow-headers"]


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Content-Type": "text/plain"}, 415),
        ({"Content-Type": "application/json", "Accept": "text/html"}, 406),
        ({"Content-Type": "application/json; charset=utf-8"}, 400),
    ],
)
async def test_bodies_of_other_kinds_are_refused(
    server: Listening, headers: dict[str, str], status: int
) -> None:
    async with fetch("POST", server.url, headers, call("tools/list")) as reply:
        assert reply.status == status


async def test_a_body_that_is_too_large_is_413(server: Listening) -> None:
    async with fetch("POST", server.url, JSON, b"x" * (17 * 1024 * 1024)) as reply:
        assert reply.status == 413


async def test_healthz_says_that_the_process_lives(server: Listening) -> None:
    async with fetch("GET", f"{server.origin}/healthz", {}) as reply:
        assert (reply.status, await reply.body()) == (200, b"ok\n")


# -- HTTP/1.1 ------------------------------------------------------------------------


async def test_pipelined_requests_are_answered_in_order(server: Listening) -> None:
    host = server.origin.removeprefix("http://").encode()
    one = b"GET /healthz HTTP/1.1\r\nHost: %b\r\n\r\n" % host
    last = b"GET /nowhere HTTP/1.1\r\nHost: %b\r\nConnection: close\r\n\r\n" % host
    said = await raw(server, one * 5 + last)
    assert said.count(b"HTTP/1.1 200 ") == 5
    assert said.rindex(b"HTTP/1.1 404 ") > said.rindex(b"HTTP/1.1 200 ")


async def test_a_body_in_chunks_is_put_together(server: Listening) -> None:
    host = server.origin.removeprefix("http://").encode()
    head = b"POST /mcp HTTP/1.1\r\nHost: %b\r\nContent-Type: application/json\r\n" % host
    head += b"Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
    said = await raw(server, head + b"2\r\n{}\r\n0\r\n\r\n")
    assert said.startswith(b"HTTP/1.1 400 ")
    assert b"-32600" in said


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"\x16\x03\x01 not HTTP at all\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
        b"GET /mcp HTTP/1.1\r\nBad Header: x\r\n\r\n",
        b"GET /mcp HTTP/1.1\r\nX: " + b"a" * 100_000 + b"\r\n\r\n",
    ],
)
async def test_what_is_not_http_is_refused(server: Listening, request_bytes: bytes) -> None:
    assert (await raw(server, request_bytes)).startswith(b"HTTP/1.1 400 ")


messages: st.SearchStrategy[dict[str, Any]] = st.dictionaries(
    st.sampled_from(["jsonrpc", "id", "method", "params", "result", "error"]),
    st.sampled_from(["2.0", 1, None, [], {}, "tools/list", {"_meta": META}, "tools/call"]),
)


async def test_random_bodies_never_crash_the_endpoint(server: Listening) -> None:
    bodies: list[bytes] = []

    @given(messages.map(lambda m: json.dumps(m).encode()) | st.binary(max_size=100))
    @settings(max_examples=250, deadline=None, suppress_health_check=list(HealthCheck))
    def collect(body: bytes) -> None:
        bodies.append(body)

    collect()
    for body in bodies:
        status, said = await status_of(server, routed("tools/list"), body)
        assert status in (200, 202, 400, 404)
        assert said is None or "result" in said or said["error"]["code"] < 0
    assert not any("Traceback" in line for line in server.stderr)


async def test_modern_listeners_hear_only_what_they_asked_for(server: Listening) -> None:
    async with over_http(server.url, NEW) as client:
        await client.subscribe(
            toolsListChanged=True, resourceSubscriptions=["test://thing", "test://nothing"]
        )
        first = next(m for m in client.notifications if "acknowledged" in m["method"])
        honoured = first["params"]["notifications"]
        assert honoured == {"toolsListChanged": True, "resourceSubscriptions": ["test://thing"]}
