"""Join the processes that serve the same: read the keys, open the store, leave at the end."""

from __future__ import annotations

import asyncio
import os
import secrets
import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

from toolyard.app.serving.running import beside
from toolyard.app.workers.crew import Worker
from toolyard.cluster.cluster import Cluster, Shared
from toolyard.cluster.cutting_off import SERVICE, look_around, store_service
from toolyard.cluster.door import Service
from toolyard.cluster.peers import PeerAddress, Peers, SocketFolder, in_folder, listen_in
from toolyard.cluster.roster import Roster
from toolyard.cluster.tenure import Tenure
from toolyard.errors import ConfigError
from toolyard.http.fetching.client import connected
from toolyard.http.serving.listening import listen
from toolyard.settings import Settings
from toolyard.store.interface import Store, StoreError
from toolyard.store.keys import ClusterKeys, read_cluster_keys
from toolyard.store.opening import open_store


@asynccontextmanager
async def clustered(settings: Settings, worker: Worker | None) -> AsyncIterator[Cluster]:
    """Raises ConfigError."""
    joined = _among_replicas(settings, worker) if settings.store else _among_workers(worker)
    async with joined as cluster:
        try:
            yield cluster
        finally:
            await cluster.peers.close()


@asynccontextmanager
async def _among_workers(worker: Worker | None) -> AsyncIterator[Cluster]:
    """They share what their supervisor has made, and nothing else."""
    assert worker is not None
    folder, keys = worker.crew.folder, ClusterKeys((worker.crew.secret,))
    place = f"{worker.place.number:02x}"
    for file in os.listdir(folder):
        if file.startswith(place):  # of whoever had this place before, and was killed
            os.unlink(os.path.join(folder, file))
    name = place + secrets.token_hex(5)
    peers = Peers(keys, in_folder(folder), SocketFolder(folder))
    try:
        sock = listen_in(folder, name)
        yield Cluster(name, keys, peers, sock, counts=worker.counts, folder=folder)
    finally:
        os.unlink(os.path.join(folder, name))


@asynccontextmanager
async def _among_replicas(settings: Settings, worker: Worker | None) -> AsyncIterator[Cluster]:
    keys = read_cluster_keys(settings.cluster_key)
    sock = _listen(settings, worker)
    store = await open_store(settings.store)
    name, address = secrets.token_hex(6), _advertised(sock, settings.store)
    roster = Roster(store, name, address, keys.fingerprints)
    peers = Peers(keys, connected, roster)
    tenure = Tenure(store, name, look_around(name, roster, peers))
    counts, folder = (worker.counts, worker.crew.folder) if worker is not None else (None, None)
    async with _kept(store, roster, tenure):
        yield Cluster(name, keys, peers, sock, Shared(store, roster, tenure), counts, folder)


@asynccontextmanager
async def _kept(store: Store, roster: Roster, tenure: Tenure) -> AsyncIterator[None]:
    """Be known to the others, and keep our lease, until the end."""
    try:
        await asyncio.gather(roster.refresh(), tenure.begin())
    except StoreError:
        pass  # it is looked for; its condition says so
    try:
        async with beside(roster.keep(), tenure.keep()):
            yield
    finally:
        await asyncio.gather(roster.leave(), tenure.end())
        await store.close()


def _listen(settings: Settings, worker: Worker | None) -> socket.socket:
    """Where other replicas reach this process. Raises ConfigError."""
    host, _, port = settings.peer.rpartition(":")
    number = worker.place.number if worker is not None else 0
    if port and not port.isdecimal():
        raise ConfigError.at("--peer", f"expected [HOST:]PORT, not {settings.peer!r}")
    place = host.strip("[]") or _own_host(settings.store), int(port or 0) and int(port) + number
    try:
        return listen(*place)
    except OSError as error:
        why = f"cannot listen on {place[0]}:{place[1]}: {error.strerror}"
        raise ConfigError.at("--peer", why) from None


def _advertised(sock: socket.socket, store: str) -> PeerAddress:
    host, port = sock.getsockname()[:2]
    return PeerAddress(_own_host(store) if host in ("0.0.0.0", "::") else host, port)


def _own_host(store: str) -> str:
    """Our address on the way to the store: others that share it can most likely reach it."""
    parts = urlsplit(store)
    first = urlsplit(f"//{parts.netloc.rpartition('@')[2].split(',')[0]}")
    host = "" if parts.scheme == "unix" else first.hostname or ""
    try:
        infos = socket.getaddrinfo(host or "127.0.0.1", first.port or 6379, type=socket.SOCK_DGRAM)
        family, kind, _, _, address = infos[0]
        with socket.socket(family, kind) as probe:
            probe.connect(address)  # a datagram socket sends nothing
            own: str = probe.getsockname()[0]
            return own
    except (OSError, ValueError):
        return "127.0.0.1"


def services_of(cluster: Cluster) -> Mapping[str, Service]:
    return {SERVICE: store_service(cluster.shared.tenure)} if cluster.shared is not None else {}
