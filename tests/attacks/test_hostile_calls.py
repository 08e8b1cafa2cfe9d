"""Calls that are taken back, are not read, or ask oddly, before the real program.

Nothing of the program is imported here: with BUILD_UNDER_TEST=CHECKOUT an older build answers.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.gateway.yard import Yard
from tests.peers.http1 import head, reply_from
from tests.peers.raw import MODERN, RawClient, over_stdio
from tests.peers.raw_http import over_http
from tests.peers.serving import serving, toolyard
from tests.transports.test_unread import megabytes, running, write_until_it_waits
from tests.until import until_exists
from tests.upstreams.fake_http import Request, fake_http, modern

pytestmark = pytest.mark.long

Json = Any
ASK = """source "${MCP_SDK:?}/tool-sdk.sh"
mcp_emit_text "$(mcp_elicit 'Who?' '{"type": "object", "properties": {}}')"
"""
META: Json = {"protocolVersion": MODERN, "clientCapabilities": {}}
ANSWER = {"action": "accept", "content": {}}
EVERY_WAY = pytest.mark.parametrize("way", ["stdio", "http"])


def hanging(yard: Yard) -> Path:
    """The file that says that the tool `hang` has begun."""
    began = yard.root / "began"
    yard.script("hang", f'echo yes >"{began}"; sleep 60')
    return began


@asynccontextmanager
async def connected(way: str, path: Path) -> AsyncIterator[RawClient]:
    able: Json = {"elicitation": {}}
    if way == "stdio":
        async with over_stdio(toolyard("serve", path), MODERN, capabilities=able) as piped:
            yield piped
        return
    async with (
        serving(path, "--no-page") as server,
        over_http(server.url, MODERN, capabilities=able) as client,
    ):
        yield client


@pytest.mark.parametrize("revision", ["2025-03-26", "2025-06-18"])
async def test_the_response_of_a_cancelled_call_is_framed_and_ends(
    yard: Yard, revision: str
) -> None:
    began = hanging(yard)
    async with serving(yard.root, "--no-page") as server, over_http(server.url, revision) as client:
        message = client.message("tools/call", {"name": "hang", "arguments": {}}, id="h")
        body = json.dumps(message).encode()
        host, port = server.origin.removeprefix("http://").split(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        headers = {**client.right(message), "Connection": "keep-alive"}
        writer.write(head("POST", client.url, headers, body) + body)
        await until_exists(began)
        await client.notify("notifications/cancelled", {"requestId": "h"})
        async with asyncio.timeout(10):
            reply = await reply_from(reader)
            assert {"content-length", "transfer-encoding"} & reply.headers.keys()
            assert b"result" not in await reply.body()
        writer.close()


async def test_a_cancellation_in_the_same_read_as_its_request_counts(yard: Yard) -> None:
    hanging(yard)
    async with over_stdio(toolyard("serve", yard.root), "2025-11-25") as client:
        await client.result("tools/list")
        request = client.message("tools/call", {"name": "hang", "arguments": {}}, id="h")
        cancel = {"method": "notifications/cancelled", "params": {"requestId": "h"}}
        lines = (request, {"jsonrpc": "2.0", **cancel})
        await client.send_line(b"\n".join(json.dumps(line).encode() for line in lines))
        # The id is free again, and nothing was said about its first request.
        assert await client.result("ping", id="h", within=10) == {}


def test_a_client_on_pipes_that_does_not_read_is_not_read_either(
    yard: Yard, tmp_path: Path
) -> None:
    large = {"content": [{"type": "text", "text": "x" * 1_000_000}]}
    yard.registry(servers=[yard.upstream("u", {"name": "large", "result": large}, expose="all")])
    meta = {f"io.modelcontextprotocol/{key}": value for key, value in META.items()}
    # So long that only a few are read before the answer to the first is there.
    params = {"name": "large", "arguments": {"padding": "x" * 100_000}, "_meta": meta}
    calls = [
        {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
        for number in range(200)
    ]
    with running(tmp_path, toolyard("serve", yard.file)) as (process, said):
        assert process.stdin is not None
        lines = b"".join(json.dumps(call).encode() + b"\n" for call in calls)
        assert write_until_it_waits(process.stdin.fileno(), lines, said)
        assert megabytes(process.pid) < 150


WRONG: list[Json] = [
    {"inputRequests": [1]},
    {"inputRequests": {"a": {"method": ["roots/list"]}}},
    {"inputRequests": {"a": {"method": "roots/list"}}, "requestState": 5},
]


@EVERY_WAY
async def test_a_question_in_a_wrong_form_is_an_error_at_once(yard: Yard, way: str) -> None:
    answers = iter(WRONG)

    async def asks(request: Request) -> None:
        request.result({"resultType": "input_required", **next(answers)})

    async with fake_http(modern(on_call=asks)) as upstream:
        yard.registry(servers=[{"name": "u", "url": upstream.url, "expose": "all"}])
        async with connected(way, yard.file) as client:
            for wrong in WRONG:
                params = {"name": "echo", "arguments": {}}
                response = await client.request("tools/call", params, within=10)
                assert "error" in response or response["result"]["isError"], wrong


@EVERY_WAY
async def test_a_huge_integer_beside_a_question_is_kept(yard: Yard, way: str) -> None:
    yard.script("ask", ASK)
    async with connected(way, yard.root) as client:
        params: Json = {"name": "ask", "arguments": {"number": 10**30}}
        asked = await client.result("tools/call", params)
        [question] = asked["inputRequests"]
        params |= {"requestState": asked["requestState"], "inputResponses": {question: ANSWER}}
        ended = await client.result("tools/call", params)
        assert "accept" in ended["content"][0]["text"]


async def test_one_call_too_many_that_waits_is_refused(yard: Yard) -> None:
    yard.script("ask", ASK)
    async with connected("http", yard.root) as client:
        params = {"name": "ask", "arguments": {}}
        for _ in range(64):
            assert (await client.result("tools/call", params))["resultType"] == "input_required"
        refused = await client.request("tools/call", params)
        assert "64 calls wait" in json.dumps(refused)
