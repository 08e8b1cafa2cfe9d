"""What one replica has learnt about servers, another knows at once: through the store."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest

from tests.peers.redis import RedisServer, needs_redis, redis_server
from tests.processes import Started
from tests.until import until
from tests.upstreams.conftest import MakePool
from tests.upstreams.seam import fake
from toolyard.sources.upstream import UpstreamListings
from toolyard.store.interface import Store
from toolyard.store.keys import read_cluster_keys
from toolyard.store.opening import open_store
from toolyard.upstreams.lists.disk import RecordFolder
from toolyard.upstreams.lists.shared import SharedRecords

pytestmark = needs_redis
KEY = "k" * 32


@pytest.fixture
def redis() -> Iterator[RedisServer]:
    with redis_server() as server:
        yield server


@pytest.fixture
async def store(redis: RedisServer) -> AsyncIterator[Store]:
    store = await open_store(redis.url)
    yield store
    await store.close()


def records(store: Store, key: str = KEY) -> SharedRecords:
    """Of one replica, which has no disk to keep anything on."""
    seal = read_cluster_keys([key]).seal("listing")
    return SharedRecords(RecordFolder(None), store, seal)


def tools(listings: UpstreamListings) -> list[str]:
    listing = listings.read()["fake"]
    return [] if listing is None else [tool["name"] for tool in listing.tools]


async def listed(listings: UpstreamListings) -> list[str]:
    await listings.settle()
    return tools(listings)


async def test_a_new_replica_lists_at_once_and_starts_nothing(
    make_pool: MakePool, store: Store
) -> None:
    first = make_pool(fake(), listing_cache=records(store))
    names = await listed(UpstreamListings(first, ["fake"]))
    assert "echo" in names
    await first.close()
    started = Started()
    pool = make_pool(fake(), listing_cache=records(store))
    listings = UpstreamListings(pool, ["fake"])
    assert await listed(listings) == names
    assert pool.health()[0].state == "idle" and not started.pids
    # What is asked for once more is asked of the server.
    assert "echo" in {tool["name"] for tool in (await pool.listing("fake")).tools}
    assert pool.health()[0].state == "up"


async def test_what_somebody_else_wrote_into_the_store_is_not_believed(
    make_pool: MakePool, store: Store
) -> None:
    first = make_pool(fake(), listing_cache=records(store, "x" * 32))
    await listed(UpstreamListings(first, ["fake"]))
    await first.close()
    pool = make_pool(fake(), listing_cache=records(store))
    assert "echo" in await listed(UpstreamListings(pool, ["fake"]))
    assert pool.health()[0].state == "up"  # it was asked


async def test_lists_do_without_the_store_and_are_written_when_it_is_back(
    make_pool: MakePool, redis: RedisServer, store: Store
) -> None:
    redis.kill()
    pool = make_pool(fake(), listing_cache=records(store))
    assert "echo" in await listed(UpstreamListings(pool, ["fake"]))
    redis.start()
    await until(lambda: "listing" in redis.ask("KEYS", "*"))
