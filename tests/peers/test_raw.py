"""The raw clients against a server that we did not write: what they hear must be true."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest
import pytest_asyncio

from tests.peers import schemas
from tests.peers.raw import EVERYTHING, RawClient, over_stdio
from tests.peers.raw_http import HttpClient, over_http, over_sse
from tests.peers.sdk_conformance_server import HTTP, STDIO
from tests.peers.serving import Listening, listening, spawned

HANDSHAKE = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
REVISIONS = (*HANDSHAKE, "2026-07-28")
ANSWERS: dict[str, Any] = {
    "elicitation/create": {"action": "accept", "content": {"name": "Ann", "color": "red"}},
    "sampling/createMessage": lambda params: {
        "role": "assistant",
        "model": "test",
        "content": {"type": "text", "text": f"{params['maxTokens']} tokens"},
    },
    "roots/list": {"roots": [{"uri": "file:///tmp", "name": "tmp"}]},
}


# One server for all: importing the SDK takes about a second.
pytestmark = [pytest.mark.long, pytest.mark.asyncio(loop_scope="module")]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server() -> AsyncIterator[Listening]:
    async with listening(HTTP) as running:
        yield running


def able(revision: str) -> dict[str, Any]:
    """Options of a client that can answer every question of its revision."""
    asks = dict(EVERYTHING)
    if revision < "2025-06-18":
        del asks["elicitation"]
    return {"capabilities": asks, "answers": ANSWERS}


def text_of(result: dict[str, Any]) -> str:
    text: str = result["content"][0]["text"]
    return text


async def a_tool_is_listed_called_and_asked(
    connection: AbstractAsyncContextManager[RawClient],
) -> None:
    async with connection as client:
        names = [tool["name"] for tool in (await client.result("tools/list"))["tools"]]
        assert "test_simple_text" in names
        said = await client.call("test_sampling", {"prompt": "Hello?"})
        assert text_of(said) == "LLM response: 100 tokens"
        assert [question["method"] for question in client.questions] == ["sampling/createMessage"]
        assert (await client.error("no/such/method"))["code"] == -32601


@pytest.mark.parametrize("revision", REVISIONS)
async def test_over_stdio_a_tool_is_listed_called_and_asked(revision: str) -> None:
    await a_tool_is_listed_called_and_asked(over_stdio(STDIO, revision, **able(revision)))


@pytest.mark.parametrize("revision", REVISIONS)
async def test_over_http_a_tool_is_listed_called_and_asked(
    server: Listening, revision: str
) -> None:
    await a_tool_is_listed_called_and_asked(over_http(server.url, revision, **able(revision)))


async def test_over_the_event_pair_a_tool_is_listed_called_and_asked(server: Listening) -> None:
    await a_tool_is_listed_called_and_asked(over_sse(f"{server.origin}/sse", **able("2024-11-05")))


async def test_progress_arrives_before_the_response(server: Listening) -> None:
    async with over_http(server.url, "2026-07-28") as client:
        await client.call("test_tool_with_progress", meta={"progressToken": "p"})
        done = [note["params"]["progress"] for note in client.notifications]
        assert done == [0, 50, 100]
        assert "result" in client.heard[-1]


async def test_a_modern_call_goes_through_its_rounds(server: Listening) -> None:
    async with over_http(server.url, "2026-07-28", **able("2026-07-28")) as client:
        result = await client.call("test_input_required_result_multi_round")
        assert text_of(result) == "Ann likes red."
        assert len(client.questions) == 2


async def test_a_closed_stream_is_resumed(server: Listening) -> None:
    async with over_http(server.url, "2025-11-25") as client:
        assert text_of(await client.call("test_reconnection")) == "Reconnection test completed"
        assert any(event.id and not event.data for event in client.events)


async def test_a_change_reaches_a_subscription(server: Listening) -> None:
    async with over_http(server.url, "2026-07-28") as client:
        assert await client.subscribe(toolsListChanged=True) == {"toolsListChanged": True}
        await client.call("test_trigger_tool_change")
        await client.notification("notifications/tools/list_changed")


async def test_a_change_reaches_the_stream_of_a_session(server: Listening) -> None:
    async with over_http(server.url, "2025-11-25") as client:
        await client.open_get()
        await client.call("test_trigger_tool_change")
        await client.notification("notifications/tools/list_changed")


async def test_headers_can_be_set_wrong(server: Listening) -> None:
    async with over_http(server.url, "2026-07-28") as client:
        message = client.message("tools/call", {"name": "test_simple_text"})
        posted = await client.post(message, {"Mcp-Name": "another"})
        assert (posted.status, posted.messages[0]["error"]["code"]) == (400, -32020)


async def test_a_message_that_breaks_the_schema_fails_the_block(server: Listening) -> None:
    if not schemas.available("2025-11-25"):
        pytest.skip(f"no {schemas.SCHEMAS}")
    with pytest.raises(AssertionError, match="ListToolsResult"):
        async with over_http(server.url, "2025-11-25") as client:
            listed = await client.request("tools/list")
            client.hear({**listed, "result": {"tools": [{"name": 7}]}})


async def test_a_program_that_ends_is_told_to_whoever_waits() -> None:
    with pytest.raises(ConnectionError, match="sorry"):
        async with over_stdio(["sh", "-c", "echo sorry >&2; exit 3"]):
            pass


async def test_a_spawned_program_is_gone_afterwards() -> None:
    async with spawned(["sh", "-c", "trap '' TERM; cat"]) as running:
        pass
    assert running.process.returncode is not None


async def test_the_client_posts_the_routing_headers_of_its_message() -> None:
    client = HttpClient("http://localhost/mcp", "2026-07-28")
    headers = client.right(client.message("resources/read", {"uri": "test://ä"}))
    assert headers["Mcp-Method"] == "resources/read"
    assert headers["Mcp-Name"] == "=?base64?dGVzdDovL8Ok?="
