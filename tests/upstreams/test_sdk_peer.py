"""The official SDK as the upstream: every transport, both eras."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from tests.peers.sdk_conformance_server import HTTP, STDIO
from tests.peers.sdk_fixtures import WATCHED
from tests.peers.serving import ROOT, listening
from tests.upstreams.conftest import MakePool
from tests.upstreams.seam import (
    EVERYTHING,
    ClientSession,
    RecordingChannel,
    always,
    call_tool,
    modern_call,
    session_call,
)
from toolyard.errors import ProtocolError
from toolyard.protocol.call import Call, JsonObject
from toolyard.upstreams.definition import ServerDefinition
from toolyard.upstreams.lists.disk import RecordFolder
from toolyard.upstreams.pool import Pool
from toolyard.upstreams.target import UpstreamResourceTarget

pytestmark = pytest.mark.long

PEERS = ["stdio-modern", "stdio-handshake", "http-modern", "http-handshake", "sse-handshake"]
MODERN = [peer for peer in PEERS if "modern" in peer]
HANDSHAKE = [peer for peer in PEERS if "handshake" in peer]
ON_STDIO = ServerDefinition(
    name="sdk",
    command=STDIO[0],
    args=tuple(STDIO[1:]),
    cwd=str(ROOT),
    env={"PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"},
)


@dataclass
class Peer:
    pool: Pool
    era: str


@pytest.fixture
async def peer(
    request: pytest.FixtureRequest, make_pool: MakePool, tmp_path: Path
) -> AsyncIterator[Peer]:
    """The pool, connected to the SDK in the way that the parameter names."""
    transport, era = request.param.split("-")
    if transport == "stdio":
        yield Peer(
            make_pool(remembering(ON_STDIO, era, tmp_path), listing_cache=RecordFolder(tmp_path)),
            era,
        )
        return
    async with listening(HTTP) as server:
        url = f"{server.origin}/sse" if transport == "sse" else server.url
        definition = remembering(ServerDefinition(name="sdk", url=url), era, tmp_path)
        pool = make_pool(definition, listing_cache=RecordFolder(tmp_path))
        yield Peer(pool, era)
        await pool.close()


def remembering(definition: ServerDefinition, era: str, folder: Path) -> ServerDefinition:
    """As if the era had been found out before, and that it has no other: this SDK has both."""
    if not str(definition.url).endswith("/sse"):
        value = {"format": 1, "era": era, "handshake": era == "handshake"}
        (folder / f"{definition.identity}.json").write_text(json.dumps(value))
    return definition


def by(call: Call, **changes: object) -> Call:
    return replace(call, **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize("peer", PEERS, indirect=True)
async def test_everything_is_listed(peer: Peer) -> None:
    listing = await peer.pool.listing("sdk")
    assert listing.error is None
    assert listing.revision == ("2026-07-28" if peer.era == "modern" else "2025-11-25")
    assert {"test_simple_text", "test_elicitation"} <= {tool["name"] for tool in listing.tools}
    assert "test://static-text" in {item["uri"] for item in listing.resources}
    assert [item["uriTemplate"] for item in listing.templates] == ["test://template/{id}/data"]
    assert "test_simple_prompt" in {prompt["name"] for prompt in listing.prompts}


@pytest.mark.parametrize("peer", PEERS, indirect=True)
async def test_tools_resources_prompts_and_completions_answer(peer: Peer) -> None:
    targets = peer.pool.targets
    call, channel = modern_call(), RecordingChannel()
    text = await call_tool(peer.pool, "test_simple_text", server="sdk")
    assert text["content"][0]["text"] == "This is a simple text response for testing."
    read = await targets.resource("sdk").call({"uri": "test://static-text"}, call, channel)
    assert isinstance(read, dict)
    assert read["contents"][0]["text"] == "This is the content of the static text resource."
    prompt = await targets.prompt("sdk", "test_prompt_with_arguments").call(
        {"arg1": "a", "arg2": "b"}, call, channel
    )
    assert isinstance(prompt, dict)
    assert "arg1='a', arg2='b'" in prompt["messages"][0]["content"]["text"]
    params: JsonObject = {
        "ref": {"type": "ref/prompt", "name": "test_prompt_with_arguments"},
        "argument": {"name": "arg1", "value": "par"},
    }
    completion = await targets.completion("sdk").call(params, call, channel)
    assert isinstance(completion, dict)
    assert "paris" in completion["completion"]["values"]


@pytest.mark.parametrize("peer", PEERS, indirect=True)
async def test_progress_and_logs_arrive_during_the_call(peer: Peer) -> None:
    channel = RecordingChannel()
    call = modern_call(meta={"progressToken": "t"}, log_level="info")
    await call_tool(peer.pool, "test_tool_with_progress", server="sdk", call=call, channel=channel)
    assert [step[:2] for step in channel.progressed] == [(0, 100), (50, 100), (100, 100)]
    await call_tool(peer.pool, "test_tool_with_logging", server="sdk", call=call, channel=channel)
    assert [data for _, data, _ in channel.logged] == [
        "Tool execution started",
        "Tool processing data",
        "Tool execution completed",
    ]


@pytest.mark.parametrize("peer", PEERS, indirect=True)
async def test_an_unknown_tool_is_the_upstreams_own_error(peer: Peer) -> None:
    with pytest.raises(ProtocolError) as raised:
        await call_tool(peer.pool, "no_such_tool", server="sdk")
    assert raised.value.code == -32602


@pytest.mark.parametrize("in_session", [True, False])
@pytest.mark.parametrize("peer", HANDSHAKE, indirect=True)
async def test_questions_reach_the_client_and_its_answers_the_upstream(
    peer: Peer, in_session: bool
) -> None:
    session = ClientSession() if in_session else None
    channel = RecordingChannel(
        always({"action": "accept", "content": {"username": "ann"}}), session
    )
    call = session_call(EVERYTHING) if in_session else modern_call(EVERYTHING)
    result = await call_tool(
        peer.pool, "test_elicitation", {"message": "who?"}, server="sdk", call=call, channel=channel
    )
    assert channel.asked[0]["method"] == "elicitation/create"
    assert channel.asked[0]["params"]["message"] == "who?"
    assert "ann" in result["content"][0]["text"]


@pytest.mark.parametrize("peer", MODERN, indirect=True)
async def test_rounds_of_a_modern_upstream_come_and_go(peer: Peer) -> None:
    tool = "test_input_required_result_request_state"
    call = modern_call(EVERYTHING)
    asked = await call_tool(peer.pool, tool, server="sdk", call=call)
    assert asked["resultType"] == "input_required"
    assert set(asked["inputRequests"]) == {"confirm"}
    again = by(
        call,
        input_responses={"confirm": {"action": "accept", "content": {"ok": True}}},
        request_state=asked["requestState"],
    )
    result = await call_tool(peer.pool, tool, server="sdk", call=again)
    assert "state-ok" in result["content"][0]["text"]


@pytest.mark.parametrize("peer", MODERN, indirect=True)
async def test_a_modern_upstream_sees_only_what_the_caller_can_answer(peer: Peer) -> None:
    with pytest.raises(ProtocolError) as raised:
        await call_tool(peer.pool, "test_missing_capability", server="sdk")
    assert raised.value.code == -32021
    assert raised.value.data == {"requiredCapabilities": {"sampling": {}}}
    call = modern_call({"sampling": {}})
    await call_tool(peer.pool, "test_missing_capability", server="sdk", call=call)


@pytest.mark.parametrize("peer", PEERS, indirect=True)
async def test_a_change_of_the_tools_is_announced(peer: Peer) -> None:
    changed: asyncio.Queue[str] = asyncio.Queue()
    await peer.pool.listing("sdk")
    peer.pool.on_change(changed.put_nowait)
    await call_tool(peer.pool, "test_trigger_tool_change", server="sdk")
    async with asyncio.timeout(10):
        assert await changed.get() == "sdk"


@pytest.mark.parametrize("peer", PEERS, indirect=True)
async def test_a_watched_resource_tells_when_it_changed(peer: Peer) -> None:
    target = peer.pool.targets.resource("sdk")
    assert isinstance(target, UpstreamResourceTarget)
    changed = [asyncio.Event(), asyncio.Event()]
    await peer.pool.listing("sdk")
    uri, channel = {"uri": WATCHED}, RecordingChannel()
    ends = [await target.subscribe(uri, modern_call(), channel, event.set) for event in changed]
    await call_tool(peer.pool, "test_trigger_resource_update", server="sdk")
    async with asyncio.timeout(10):
        await asyncio.gather(*(event.wait() for event in changed))
    for end in ends:
        end()
