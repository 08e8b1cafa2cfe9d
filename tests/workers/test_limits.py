"""Limits hold over all processes: workers of one machine, and replicas that share a store."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest

from tests.peers.raw_http import HttpClient, over_http
from tests.peers.redis import RedisServer, needs_redis, redis_server
from tests.peers.serving import serving
from tests.until import until_exists
from tests.workers.doors import in_turn
from tests.workers.yard import NEW, crewed, place_of, project

KEY = {"TOOLYARD_CLUSTER_KEY": "k" * 32}


@pytest.fixture
def redis() -> Iterator[RedisServer]:
    with redis_server() as server:
        yield server


def limited(folder: Path, **limit: object) -> Path:
    project(folder)
    (folder / "toolyard.json").write_text(json.dumps({"limits": [{"tools": ["*"], **limit}]}))
    return folder


@asynccontextmanager
async def clients_of(*urls: str) -> AsyncIterator[list[HttpClient]]:
    """One for each."""
    async with AsyncExitStack() as stack:
        yield [await stack.enter_async_context(over_http(url, NEW, start=False)) for url in urls]


async def allowed(clients: list[HttpClient], rounds: int) -> int:
    results = [await client.call("who") for _ in range(rounds) for client in clients]
    return sum(not result.get("isError") for result in results)


async def test_workers_without_a_store_hold_a_limit_together(tmp_path: Path) -> None:
    folder = limited(tmp_path / "yard", calls=40, seconds=3600)
    async with crewed(folder) as server, in_turn(server) as url, clients_of(url) as clients:
        assert await allowed(clients, 60) == 40


async def test_a_worker_that_dies_leaves_its_seats(tmp_path: Path) -> None:
    folder = limited(tmp_path / "yard", concurrent=1)
    async with crewed(folder) as server, clients_of(server.url) as (client,):
        running = asyncio.create_task(client.call("held"))
        worker = int(await until_exists(place_of(folder, "held") / "began"))
        refused = await client.call("who")
        assert "Too many calls at once: 1 are running" in refused["content"][0]["text"]
        os.kill(worker, signal.SIGKILL)
        await server.says("ended with signal 9")
        assert not (await client.call("who")).get("isError")
        await asyncio.gather(running, return_exceptions=True)


@needs_redis
async def test_replicas_hold_a_limit_together_through_the_store(
    tmp_path: Path, redis: RedisServer
) -> None:
    folder = limited(tmp_path / "yard", calls=40, seconds=3600)
    flags = ("--store", redis.url)
    async with (
        serving(folder, *flags, env=KEY) as one,
        serving(folder, *flags, env=KEY) as other,
        clients_of(one.url, other.url) as clients,
    ):
        assert await allowed(clients, 30) == 40
