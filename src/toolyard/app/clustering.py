"""Join the processes that serve the same: read the keys, open the store, leave at the end."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from toolyard.app.crew import Worker
from toolyard.cluster.cluster import Cluster
from toolyard.settings import Settings
from toolyard.store.keys import ClusterKeys, read_cluster_keys
from toolyard.store.opening import open_store


@asynccontextmanager
async def clustered(settings: Settings, worker: Worker | None) -> AsyncIterator[Cluster]:
    """Workers without a store share what their supervisor has made. Raises ConfigError."""
    if not settings.store:
        assert worker is not None
        yield Cluster(ClusterKeys((worker.crew.secret,)), counts=worker.counts)
        return
    keys = read_cluster_keys(settings.cluster_key)
    store = await open_store(settings.store)
    try:
        yield Cluster(keys, store, worker.counts if worker is not None else None)
    finally:
        await store.close()
