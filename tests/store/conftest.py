"""Each test of the interface runs against every kind of store."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest

from tests.peers.ports import free_port
from tests.peers.redis import RedisServer, needs_redis, redis_server
from toolyard.store.interface import Store
from toolyard.store.memory import MemoryStore
from toolyard.store.opening import open_store

KINDS = (
    "memory",
    pytest.param("redis", marks=needs_redis),
    pytest.param("cluster", marks=needs_redis),
)


@pytest.fixture(scope="session")
def redis() -> Iterator[RedisServer]:
    with redis_server() as server:
        yield server


@pytest.fixture(scope="session")
def cluster() -> Iterator[RedisServer]:
    """One node that has all slots: what is not together is refused by it as by many."""
    with redis_server("--cluster-enabled", "yes", port=free_port()) as server:
        server.ask("CLUSTER", "ADDSLOTSRANGE", "0", "16383")
        while "cluster_state:ok" not in server.ask("CLUSTER", "INFO"):
            pass
        yield server


@pytest.fixture(params=KINDS)
async def store(request: pytest.FixtureRequest) -> AsyncIterator[Store]:
    if request.param == "memory":
        yield MemoryStore()
        return
    server = request.getfixturevalue(request.param)
    server.ask("FLUSHALL")
    url = server.url if request.param == "redis" else f"redis+cluster://127.0.0.1:{server.port}"
    store = await open_store(url)
    assert store.condition.reachable, store.condition
    yield store
    await store.close()
