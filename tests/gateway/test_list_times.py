"""A modern server says for how long its lists hold: then they are asked for again, by a list."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from tests.gateway.yard import Yard
from tests.peers.raw import MODERN
from tests.peers.raw_http import HttpClient, over_http
from tests.peers.serving import serving
from tests.until import until
from tests.upstreams.fake_http import FakeHttp, Request, fake_http, modern

Json = Any
HOLDS = 0.4


class Lister:
    """Offers `tools`, and never announces that they have changed."""

    def __init__(self, ttl: Json) -> None:
        self.tools = ["first"]
        self._ttl = ttl
        self._others = modern()

    async def __call__(self, request: Request) -> None:
        if request.rpc != "tools/list":
            await self._others(request)
            return
        tools = [{"name": name, "inputSchema": {"type": "object"}} for name in self.tools]
        request.result({"resultType": "complete", "tools": tools, "ttlMs": self._ttl})


@asynccontextmanager
async def listed_by(yard: Yard, lister: Lister) -> AsyncIterator[tuple[HttpClient, FakeHttp]]:
    async with fake_http(lister) as remote:
        entry = {"name": "remote", "url": remote.url, "transport": "streamablehttp"}
        yard.registry(servers=[{**entry, "expose": "all"}])
        async with serving(yard.file) as server, over_http(server.url, MODERN) as client:
            assert await names(client) == ["first"]
            yield client, remote


async def names(client: HttpClient) -> list[str]:
    return [tool["name"] for tool in (await client.result("tools/list"))["tools"]]


def times_asked(remote: FakeHttp) -> int:
    return remote.rpcs().count("tools/list")


async def test_a_list_that_is_too_old_is_asked_for_again_when_somebody_lists(yard: Yard) -> None:
    lister = Lister(HOLDS * 1000)
    async with listed_by(yard, lister) as (client, remote):
        lister.tools.append("second")
        await asyncio.sleep(2 * HOLDS)
        assert times_asked(remote) == 1  # nobody listed: nobody is asked
        assert await names(client) == ["first"]  # at once, with what is known

        async def both() -> bool:
            return await names(client) == ["first", "second"]

        await until(both)


@pytest.mark.parametrize("ttl", [0, 3_600_000, "soon"])
async def test_a_list_that_holds_or_promises_nothing_is_not_asked_for_again(
    yard: Yard, ttl: Json
) -> None:
    lister = Lister(ttl)
    async with listed_by(yard, lister) as (client, remote):
        await asyncio.sleep(0.01)
        for _ in range(5):
            assert await names(client) == ["first"]
        await asyncio.sleep(0.1)
        assert times_asked(remote) == 1
