"""What one revision says and another cannot: through a gateway, by strict raw peers."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from tests.gateway.bridged import EVERYTHING, Bridges, registry
from tests.peers.raw_http import over_http
from tests.peers.serving import serving
from tests.until import until
from tests.upstreams.fake_http import Handshake, Request, fake_http

pytestmark = pytest.mark.asyncio(loop_scope="module")
NEW = "2026-07-28"
OLD = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
ROOTS = {"roots": [{"uri": "file:///here"}]}


@pytest.mark.parametrize("upstream", OLD)
async def test_the_retry_gets_the_result_of_a_call_that_did_not_wait_for_its_answer(
    bridged: Bridges, tmp_path: Path, upstream: str
) -> None:
    async with bridged.between(NEW, upstream) as between:
        go = tmp_path / "go"
        result = {"content": [{"type": "text", "text": "written"}]}
        steps: list[Any] = [
            {"ask": {"method": "roots/list"}},
            {"until": str(go)},
            {"result": result},
        ]
        params = between.playing(*steps)
        asked = await between.client.result("tools/call", params)
        assert asked["resultType"] == "input_required"
        go.touch()
        # A second call on another connection shows that the gateway has read what came before.
        await between.play({"result": {"content": []}})
        answers = dict.fromkeys(asked["inputRequests"], ROOTS)
        again = {**params, "requestState": asked["requestState"], "inputResponses": answers}
        ended = await between.client.result("tools/call", again)
        assert ended["content"] == result["content"]


@pytest.mark.parametrize("capable", [True, False])
@pytest.mark.parametrize("client", ["2025-11-25", NEW])
async def test_an_upstream_over_http_is_told_before_the_connection_goes(
    tmp_path: Path, client: str, capable: bool
) -> None:
    began = asyncio.Event()

    async def never(request: Request) -> None:
        began.set()
        await request.gone()

    upstream = Handshake(on_call=never)
    async with fake_http(upstream) as fake:
        path = registry(tmp_path, {"url": fake.url})
        able = EVERYTHING if capable else {}
        async with (
            serving(path, "--no-page") as server,
            over_http(server.url, client, capabilities=able) as raw,
        ):
            message = raw.message("tools/call", {"name": "echo", "arguments": {}}, id="c")
            async with asyncio.timeout(20):
                calling = asyncio.create_task(raw.exchange(message))
                await began.wait()
                if client == NEW:
                    calling.cancel()
                else:
                    reason = {"requestId": "c", "reason": "bored"}
                    await raw.notify("notifications/cancelled", reason)
                await until(lambda: "notifications/cancelled" in fake.rpcs())
                calling.cancel()
                await asyncio.gather(calling, return_exceptions=True)
        (call,) = fake.calls()
        told = next(one for one in fake.requests if one.rpc == "notifications/cancelled")
        assert told.json["params"]["requestId"] == call.json["id"]
        assert told.headers["mcp-session-id"] == call.headers["mcp-session-id"]
        if client != NEW:
            assert told.json["params"]["reason"] == "bored"
        if capable and client == NEW:
            ended = next(one for one in fake.requests if one.method == "DELETE")
            assert fake.requests.index(told) < fake.requests.index(ended)


@pytest.mark.parametrize("upstream", ["2025-11-25", NEW])
async def test_the_reason_of_a_cancellation_is_passed_on(
    bridged: Bridges, tmp_path: Path, upstream: str
) -> None:
    async with bridged.between("2025-11-25", upstream) as between:
        client = between.client
        end = tmp_path / "end"
        params = between.playing({"until": str(end)})
        calling = asyncio.create_task(client.exchange(client.message("tools/call", params, id=7)))
        await between.arrives("tools/call")
        await client.notify("notifications/cancelled", {"requestId": 7, "reason": "bored"})
        told = await between.arrives("notifications/cancelled")
        end.touch()
        assert told["params"]["reason"] == "bored"
        calling.cancel()
        await asyncio.gather(calling, return_exceptions=True)


async def test_the_reason_for_taking_a_question_back_is_passed_on(
    bridged: Bridges, tmp_path: Path
) -> None:
    async with bridged.between("2025-11-25", "2025-11-25") as between:
        client, go = between.client, tmp_path / "go"
        steps: list[Any] = [
            {"ask": {"method": "roots/list"}},
            {"until": str(go)},
            {"cancel": "too late"},
        ]
        params = between.playing(*steps)
        async with client.stream(client.message("tools/call", params)) as reply:
            heard = []
            async for event in reply.events():
                heard.append(json.loads(event.data) if event.data else {})
                go.touch() if heard[-1].get("method") == "roots/list" else None
        question = next(one for one in heard if one.get("method") == "roots/list")
        taken = next(one for one in heard if one.get("method") == "notifications/cancelled")
        assert taken["params"] == {"requestId": question["id"], "reason": "too late"}
