"""The store stops, hangs, fills up and comes back while replicas serve."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from tests.cluster.yard import Replicas, replicas, text, yard
from tests.peers.http1 import fetch
from tests.peers.nginx import needs_nginx
from tests.peers.raw_http import over_http
from tests.peers.redis import RedisServer, needs_redis
from tests.until import until

pytestmark = [needs_redis, needs_nginx]
OLD, NEW = "2025-11-25", "2026-07-28"
LOOPS = 4


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return yard(tmp_path / "yard")


def stop(redis: RedisServer) -> Callable[[], None]:
    redis.kill()
    return redis.start  # it keeps nothing: it comes back empty


def hang(redis: RedisServer) -> Callable[[], None]:
    redis.pause()
    return redis.go_on


def fill(redis: RedisServer) -> Callable[[], None]:
    redis.ask("CONFIG", "SET", "maxmemory", "1")
    return lambda: void(redis.ask("CONFIG", "SET", "maxmemory", "0"))


def write_no_more(redis: RedisServer) -> Callable[[], None]:
    redis.ask("REPLICAOF", "127.0.0.1", "1")
    return lambda: void(redis.ask("REPLICAOF", "NO", "ONE"))


def void(_reply: str) -> None:
    pass


class Load:
    """Calls, one after the other on several connections, until told to end."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._ending = False
        self.done = 0
        self.slowest = 0.0

    async def loop(self) -> None:
        clock = asyncio.get_running_loop().time
        async with over_http(self._url, NEW, start=False) as client:
            while not self._ending:
                began = clock()
                assert text(await client.call("who")).strip().isdigit()
                self.slowest = max(self.slowest, clock() - began)
                self.done += 1

    async def goes_on(self, calls: int = 20) -> None:
        enough = self.done + calls
        await until(lambda: self.done >= enough)

    def end(self) -> None:
        self._ending = True


@pytest.mark.parametrize("trouble", [stop, hang, fill, write_no_more])
async def test_stateless_calls_lose_nothing_and_sessions_go_on_in_their_owner(
    folder: Path, trouble: Callable[[RedisServer], Callable[[], None]]
) -> None:
    async with replicas(folder, "--no-page") as group, AsyncExitStack() as stack:
        sessions = [
            await stack.enter_async_context(over_http(server.url, OLD)) for server in group.servers
        ]
        load = Load(group.url)
        async with asyncio.TaskGroup() as tasks:
            for _ in range(LOOPS):
                tasks.create_task(load.loop())
            await load.goes_on()
            repair = trouble(group.redis)
            await all_say(group, reachable=False)
            await load.goes_on()
            for session in sessions:
                assert text(await session.call("who")).strip().isdigit()
            repair()
            await all_say(group, reachable=True)
            await load.goes_on()
            for session in sessions:
                assert text(await session.call("who")).strip().isdigit()
            load.end()
        # What was written before, and what could not be, is there again: for other replicas too.
        sessions[0].url = group.servers[1].url
        assert text(await sessions[0].call("who")).strip().isdigit()
        for server in group.servers:
            lines = [line for line in server.stderr if "the store at" in line]
            assert 1 <= len(lines) <= 4, lines  # once, not once a call


async def all_say(group: Replicas, *, reachable: bool) -> None:
    for server in group.servers:
        await until(lambda origin=server.origin: says(origin, reachable))  # type: ignore[misc]


async def says(origin: str, reachable: bool) -> bool:
    async with fetch("GET", f"{origin}/readyz") as reply:
        assert reply.status == 200
        return bool(json.loads(await reply.body())["remarks"]) is not reachable
