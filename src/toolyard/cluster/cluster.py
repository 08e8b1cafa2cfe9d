"""What this process has in common with the others that serve the same. Knows no MCP."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field

from toolyard.store.interface import Store
from toolyard.store.keys import ClusterKeys
from toolyard.store.machine import WorkerCounts


def _new_name() -> str:
    return secrets.token_hex(6)


@dataclass(frozen=True, slots=True)
class Cluster:
    keys: ClusterKeys
    store: Store | None = None  # None: workers of one machine, which share nothing else
    counts: WorkerCounts | None = None  # what the workers of this machine count together
    # Of this process among them; nobody had it before, nobody will have it again.
    name: str = field(default_factory=_new_name)
