"""What all upstreams of a pool share."""

from __future__ import annotations

from dataclasses import dataclass, field

from toolyard.http.client import HttpClient
from toolyard.processes.lasting import GroupGuard, Unguarded
from toolyard.upstreams.auth import Authorize, OnChallenge
from toolyard.upstreams.lists.records import RecordFolder
from toolyard.upstreams.running import Limits


@dataclass(frozen=True, slots=True)
class Setup:
    limits: Limits = field(default_factory=Limits)
    records: RecordFolder = field(default_factory=lambda: RecordFolder(None))
    idle_stop: float = 600.0  # seconds without a call after which a connection is closed
    # Seconds that a server which is not defined any more goes on for catalogs of before.
    retire_after: float = 10.0
    http: HttpClient = field(default_factory=HttpClient)
    authorize: Authorize | None = None
    on_challenge: OnChallenge | None = None
    guard: GroupGuard = field(default_factory=Unguarded)
