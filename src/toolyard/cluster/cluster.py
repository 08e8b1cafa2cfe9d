"""What this process has in common with the others that serve the same. Knows no MCP."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from dataclasses import dataclass

from toolyard.cluster.door import PeerDoor, PeerEntrance, Service
from toolyard.cluster.peers import Peers
from toolyard.cluster.roster import Roster
from toolyard.cluster.tenure import Tenure
from toolyard.http.serving.server import Door
from toolyard.store.interface import Store
from toolyard.store.keys import ClusterKeys
from toolyard.store.machine import WorkerCounts


@dataclass(frozen=True, slots=True)
class Shared:
    """What is there only with a store."""

    store: Store
    roster: Roster
    tenure: Tenure


@dataclass(frozen=True, slots=True)
class Cluster:
    # Of this process among them; nobody had it before, nobody will have it again.
    name: str
    keys: ClusterKeys
    peers: Peers
    sock: socket.socket  # where the others reach us
    shared: Shared | None = None  # None: workers of one machine, which have no store
    counts: WorkerCounts | None = None  # what the workers of this machine count together
    folder: str | None = None  # which the workers of this machine share

    @property
    def store(self) -> Store | None:
        return self.shared.store if self.shared is not None else None

    def door(self, services: Mapping[str, Service]) -> Door:
        return Door(PeerDoor(self.keys, services), PeerEntrance(self.sock, self.keys))
