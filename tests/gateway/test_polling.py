"""An upstream that ends the stream of a call early, to be polled: its client is polled for too."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.gateway.bridged import registry
from tests.peers.raw_http import over_http
from tests.peers.serving import serving
from tests.upstreams.fake_http import Handshake, Request, fake_http

DONE = {"content": [{"type": "text", "text": "done"}]}


class Polled:
    """Ends the stream of a call after an event with an id; the answer waits for who comes back."""

    def __init__(self) -> None:
        self.ready = asyncio.Event()
        self.call: object = None

    async def on_call(self, request: Request) -> None:
        self.call = request.json["id"]
        request.open_events()
        request.event(None, id="e1", retry="10")
        request.close_events()

    async def on_get(self, request: Request) -> None:
        if "last-event-id" not in request.headers:
            request.answer(405)
            return
        request.open_events()
        await self.ready.wait()
        request.event({"jsonrpc": "2.0", "id": self.call, "result": DONE}, id="e2")
        request.close_events()


@pytest.mark.parametrize("client", ["2025-06-18", "2025-11-25", "2026-07-28"])
async def test_the_client_polls_where_its_revision_can(tmp_path: Path, client: str) -> None:
    polled = Polled()
    upstream = Handshake(on_call=polled.on_call, listens=polled.on_get)
    async with (
        fake_http(upstream) as fake,
        serving(registry(tmp_path, {"url": fake.url}), "--no-page") as server,
        over_http(server.url, client) as raw,
    ):
        message = raw.message("tools/call", {"name": "echo", "arguments": {}}, id="c")
        if client != "2025-11-25":
            polled.ready.set()
            assert (await raw.exchange(message))["result"]["content"] == DONE["content"]
            return
        async with asyncio.timeout(10), raw.stream(message) as reply:
            events = [event async for event in reply.events()]
        assert [event.data for event in events] == [""]
        polled.ready.set()
        answer, _ = await raw.resume("c", events[0].id)
        assert answer is not None
        assert answer["result"]["content"] == DONE["content"]
