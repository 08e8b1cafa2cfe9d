"""What `doctor` says about a store: is it there, does it do what is needed, and who shares it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from time import perf_counter
from typing import Literal, NamedTuple

from toolyard.cluster.roster import GROUP, card_of
from toolyard.errors import ConfigError
from toolyard.settings import Settings
from toolyard.store.interface import Cap, Event, LeaseLost, Rate, Store, StoreError
from toolyard.store.keys import ClusterKeys, read_cluster_keys
from toolyard.store.opening import open_store

SECONDS = 5.0  # how long what is tried is kept there
SLOW = 0.02  # a trip within one network takes less than a millisecond
TRIPS = 10


class StoreFinding(NamedTuple):
    id: str
    severity: Literal["ok", "info", "warning", "error"]
    text: str
    suggestion: str | None = None


def store_findings(settings: Settings) -> list[StoreFinding]:
    return asyncio.run(_findings(settings))


async def _findings(settings: Settings) -> list[StoreFinding]:
    keys, findings = _keys(settings)
    try:
        store = await open_store(settings.store)
    except ConfigError as error:
        return [*findings, StoreFinding("store", "error", error.problems[0].message)]
    try:
        findings += [finding async for finding in _looked_at(store, keys)]
    except StoreError as error:
        findings.append(StoreFinding("store", "error", str(error)))
    finally:
        await store.close()
    return findings


def _keys(settings: Settings) -> tuple[ClusterKeys | None, list[StoreFinding]]:
    try:
        keys = read_cluster_keys(settings.cluster_key)
    except ConfigError as error:
        return None, [StoreFinding("cluster-key", "error", str(error))]
    prints = " and ".join(keys.fingerprints)
    return keys, [
        StoreFinding("cluster-key", "ok", f"the cluster key has the fingerprint {prints}")
    ]


async def _looked_at(store: Store, keys: ClusterKeys | None) -> AsyncIterator[StoreFinding]:
    """Raises StoreError."""
    place = store.condition.place
    if not store.condition.reachable:
        raise StoreError(store.condition.error)
    await _try_everything(store)
    yield StoreFinding("store", "ok", f"{place} is there, and does everything that is needed")
    seconds = await _seconds_of_a_trip(store)
    text = f"a trip to the store takes {seconds * 1000:.2f} ms"
    far = StoreFinding("store-trip", "warning", text, "use a store in the same network")
    yield far if seconds > SLOW else StoreFinding("store-trip", "ok", text)
    for name, value in sorted((await store.members(GROUP)).items()):
        card = card_of(value)
        text = f"process {name} at {card.host}:{card.port} shares it"
        if keys is not None and not set(keys.fingerprints) & set(card.keys):
            yield StoreFinding(
                *("replica", "error", f"{text}, with another cluster key"),
                "give every replica the same TOOLYARD_CLUSTER_KEY",
            )
        else:
            yield StoreFinding("replica", "ok", text)


async def _try_everything(store: Store) -> None:
    """Each kind of thing that we do there, once. Raises StoreError."""
    name = f"doctor:{{{os.urandom(8).hex()}}}"
    lease = await store.take(name, "doctor", SECONDS)
    try:
        await store.write(name, b"", SECONDS, lease=lease)
        await store.append(name, [Event(1, b"")], Cap(1, SECONDS), lease=lease)
    except LeaseLost:
        raise StoreError("the store loses leases: are its keys evicted?") from None
    await store.events(name, 0)
    await store.allow(name, Rate(1, 1.0), 1)
    await store.occupy(name, "doctor", 1, most=1, seconds=SECONDS)
    await store.join(name, "doctor", b"", SECONDS)
    await store.leave(name, "doctor")
    await store.erase(name, lease=lease)
    if lease is not None:
        await store.release(lease)


async def _seconds_of_a_trip(store: Store) -> float:
    began = perf_counter()
    for _ in range(TRIPS):
        await store.read("doctor")
    return (perf_counter() - began) / TRIPS
