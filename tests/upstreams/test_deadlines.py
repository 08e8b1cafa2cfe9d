"""How long a call may take: progress and questions extend it, up to a hard maximum."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from tests.upstreams.conftest import MakePool
from tests.upstreams.fake_http import Request, fake_http, modern
from tests.upstreams.seam import QUICK, RecordingChannel, call_tool, fake, modern_call
from toolyard.errors import UpstreamError
from toolyard.protocol.call import JsonObject
from toolyard.upstreams.definition import ServerDefinition

WITH_PROGRESS = modern_call(meta={"progressToken": 1})


async def test_progress_extends_the_time_limit(make_pool: MakePool) -> None:
    pool = make_pool(replace(fake(), timeout=2.5))
    await call_tool(pool, "tick", {"steps": 30}, call=WITH_PROGRESS)  # ten in a second


async def test_progress_does_not_extend_it_for_ever(make_pool: MakePool) -> None:
    limits = replace(QUICK, call=0.4, longest=1.0, probe=0.2)
    pool = make_pool(fake(), limits=limits)
    with pytest.raises(UpstreamError, match="did not answer tools/call"):
        async with asyncio.timeout(30):
            await call_tool(pool, "tick", {"steps": 10_000}, call=WITH_PROGRESS)


async def test_the_clock_stands_still_while_the_client_is_asked(make_pool: MakePool) -> None:
    pool = make_pool(replace(fake(), timeout=2.5))

    async def think(question: JsonObject) -> JsonObject:
        await asyncio.sleep(3.0)
        return {"action": "decline"}

    question = {"method": "elicitation/create", "params": {"message": "?"}}
    call = modern_call({"elicitation": {}})
    channel = RecordingChannel(think)
    result = await call_tool(pool, "ask", question, call=call, channel=channel)
    assert result["structuredContent"]["result"] == {"action": "decline"}


async def test_a_connection_that_dies_under_a_list_is_replaced_and_under_a_call_is_an_error(
    make_pool: MakePool,
) -> None:
    doomed = {"tools/list", "tools/call"}
    inner = modern()

    async def handle(request: Request) -> None:
        if request.rpc in doomed:
            doomed.discard(request.rpc)
            request.cut()
        else:
            await inner(request)

    async with fake_http(handle) as server:
        pool = make_pool(ServerDefinition(name="fake", url=server.url))
        assert (await pool.listing("fake")).error is None
        assert server.rpcs().count("tools/list") == 2
        with pytest.raises(UpstreamError, match=r"connection was closed; the request may have run"):
            await call_tool(pool, "echo")
        assert len(server.calls()) == 1
        await call_tool(pool, "echo")
        await pool.close()


async def test_forced_sharing_refuses_questions(make_pool: MakePool) -> None:
    pool = make_pool(replace(fake(), share="always"))
    channel = RecordingChannel()
    question = {"method": "roots/list", "params": {}}
    call = modern_call({"roots": {}})
    result = await call_tool(pool, "ask", question, call=call, channel=channel)
    assert result["structuredContent"]["error"]["code"] == -32601
    assert channel.asked == []
    assert pool.health()[0].connections == 1
