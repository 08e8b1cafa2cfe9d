"""Published servers as upstreams: three revisions, three transports, none of our making."""

from __future__ import annotations

import pytest

from tests.upstreams import real
from tests.upstreams.conftest import MakePool
from tests.upstreams.seam import ClientSession, RecordingChannel, always, call_tool, modern_call
from toolyard.protocol.call import JsonObject
from toolyard.upstreams.conversation.running import Limits
from toolyard.upstreams.definition import ServerDefinition

pytestmark = pytest.mark.long

PATIENT = Limits()


@pytest.mark.parametrize(
    ("folder", "packages", "revision"),
    [
        ("time", ("mcp-server-time==2026.10.19",), "2026-07-28"),
        (
            "time-2025",
            ("mcp-server-time==2025.9.25", "mcp==1.9.4", "pydantic<2.12"),
            "2025-03-26",
        ),
    ],
)
async def test_the_time_server_tells_the_time_in_either_era(
    make_pool: MakePool, folder: str, packages: tuple[str, ...], revision: str
) -> None:
    command = str(real.from_pypi(folder, *packages) / "mcp-server-time")
    args = ("--local-timezone", "UTC")
    pool = make_pool(ServerDefinition(name="time", command=command, args=args), limits=PATIENT)
    listing = await pool.listing("time")
    assert (listing.error, listing.revision) == (None, revision)
    assert {tool["name"] for tool in listing.tools} == {"get_current_time", "convert_time"}
    result = await call_tool(pool, "get_current_time", {"timezone": "Asia/Tokyo"}, server="time")
    assert '"timezone": "Asia/Tokyo"' in result["content"][0]["text"]


def on_stdio() -> ServerDefinition:
    return ServerDefinition(name="every", command=real.NODE, args=(real.everything(), "stdio"))


async def test_the_everything_server_lists_reads_and_calls(make_pool: MakePool) -> None:
    pool = make_pool(on_stdio(), limits=PATIENT)
    listing = await pool.listing("every")
    assert (listing.error, listing.revision) == (None, "2025-11-25")
    assert listing.resources and listing.templates and listing.prompts
    assert await call_tool(pool, "echo", {"message": "hi"}, server="every") == {
        "content": [{"type": "text", "text": "Echo: hi"}]
    }
    uri = listing.resources[0]["uri"]
    read = await pool.targets.resource("every").call(
        {"uri": uri}, modern_call(), RecordingChannel()
    )
    assert isinstance(read, dict)
    assert read["contents"][0]["uri"] == uri


async def test_the_everything_server_asks_and_reports_progress(make_pool: MakePool) -> None:
    pool = make_pool(on_stdio(), limits=PATIENT)
    sampled: JsonObject = {"type": "text", "text": "sampled!"}
    answer = always({"role": "assistant", "model": "m", "content": sampled})
    channel = RecordingChannel(answer)
    call = modern_call({"sampling": {}}, meta={"progressToken": "mine"})
    tool, prompt = "trigger-sampling-request", {"prompt": "hi"}
    result = await call_tool(pool, tool, prompt, server="every", call=call, channel=channel)
    assert "sampled!" in result["content"][0]["text"]
    assert [question["method"] for question in channel.asked] == ["sampling/createMessage"]
    long = {"duration": 0.2, "steps": 2}
    tool = "trigger-long-running-operation"
    await call_tool(pool, tool, long, server="every", call=call, channel=channel)
    assert [step[:2] for step in channel.progressed] == [(1, 2), (2, 2)]


async def test_the_everything_server_may_ask_a_session_for_its_roots(make_pool: MakePool) -> None:
    pool = make_pool(on_stdio(), limits=PATIENT)
    session = ClientSession()
    roots = always({"roots": [{"uri": "file:///home/ann", "name": "home"}]})
    channel = RecordingChannel(roots, session)
    call = modern_call({"roots": {"listChanged": True}})
    result = await call_tool(pool, "get-roots-list", server="every", call=call, channel=channel)
    assert "file:///home/ann" in result["content"][0]["text"]


@pytest.mark.parametrize(
    ("mode", "path", "transport"),
    [("streamableHttp", "mcp", "streamablehttp"), ("sse", "sse", "sse")],
)
async def test_the_everything_server_is_found_over_http(
    make_pool: MakePool, mode: str, path: str, transport: str
) -> None:
    async with real.everything_at(mode) as port:
        pool = make_pool(ServerDefinition(name="every", url=f"http://127.0.0.1:{port}/{path}"))
        result = await call_tool(pool, "get-sum", {"a": 2, "b": 3}, server="every")
        assert "5" in result["content"][0]["text"]
        assert pool.health()[0].transport == transport
        await pool.close()
