"""The cluster key is changed while replicas serve: each is replaced in turn, sessions go on."""

from __future__ import annotations

from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from tests.cluster.yard import replica, text, yard
from tests.peers.raw_http import HttpClient, over_http
from tests.peers.redis import RedisServer, needs_redis, redis_server
from tests.peers.serving import Listening
from tests.until import until
from tests.workers.test_readiness import answers, knows

pytestmark = [needs_redis, pytest.mark.long]
OLD, NEW = "o" * 32, "n" * 32
REVISION = "2025-11-25"
COUNT = 2


class Rolling:
    """Replicas that are replaced one by one: the successor first, then the old one is ended."""

    def __init__(self, folder: Path, redis: RedisServer) -> None:
        self._folder = folder
        self._redis = redis
        self._replicas: list[tuple[Listening, AsyncExitStack]] = []

    @property
    def servers(self) -> list[Listening]:
        return [server for server, _ in self._replicas]

    async def add(self, keys: str) -> None:
        stack = AsyncExitStack()
        env = {"TOOLYARD_CLUSTER_KEY": keys}
        server = await stack.enter_async_context(replica(self._folder, self._redis, env=env))
        self._replicas.append((server, stack))

    async def replace_oldest(self, keys: str) -> None:
        await self.add(keys)
        await self.agree()
        _, stack = self._replicas.pop(0)
        await stack.aclose()
        await self.agree()

    async def agree(self) -> None:
        """All know each other, and each is ready: no key is a stranger's."""
        for server in self.servers:
            await until(lambda s=server: knows(s, len(self._replicas)))  # type: ignore[misc]
            await until(lambda s=server: answers(s, 200))  # type: ignore[misc]

    async def close(self) -> None:
        for _, stack in self._replicas:
            await stack.aclose()


async def goes_on(client: HttpClient, servers: list[Listening]) -> None:
    """In one process, whichever is asked."""
    homes = set()
    for server in servers:
        client.url = server.url
        homes.add(text(await client.call("who")))
    assert len(homes) == 1


async def test_sessions_outlive_a_change_of_the_key_until_the_old_one_is_dropped(
    tmp_path: Path,
) -> None:
    with redis_server() as redis:
        async with AsyncExitStack() as stack:
            rolling = Rolling(yard(tmp_path / "yard"), redis)
            stack.push_async_callback(rolling.close)
            for _ in range(COUNT):
                await rolling.add(OLD)
            await rolling.agree()
            clients = [
                await stack.enter_async_context(over_http(server.url, REVISION))
                for server in rolling.servers
            ]
            for keys in (f"{OLD} {NEW}", f"{NEW} {OLD}"):
                for _ in range(COUNT):
                    await rolling.replace_oldest(keys)
                    for client in clients:
                        await goes_on(client, rolling.servers)
            newcomer = await stack.enter_async_context(over_http(rolling.servers[0].url, REVISION))
            for _ in range(COUNT):
                await rolling.replace_oldest(NEW)
                await goes_on(newcomer, rolling.servers)
            for client in clients:  # their ids were sealed with what nobody has any more
                client.url = rolling.servers[0].url
                posted = await client.post(client.message("tools/list"))
                assert posted.status == 404
