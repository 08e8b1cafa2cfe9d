"""What all upstreams of a pool share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from toolyard.http.fetching.client import HttpClient
from toolyard.processes.lasting import GroupGuard, Unguarded
from toolyard.upstreams.auth import Authorize, OnChallenge
from toolyard.upstreams.conversation.observing import UNWATCHED, Watch
from toolyard.upstreams.conversation.running import Limits
from toolyard.upstreams.lists.disk import RecordFolder, RecordKeeper

if TYPE_CHECKING:
    from toolyard.upstreams.copies import Copies


@dataclass(frozen=True, slots=True)
class Setup:
    """Limits and services, the same for every upstream."""

    limits: Limits = field(default_factory=Limits)
    listing_cache: RecordKeeper = field(default_factory=lambda: RecordFolder(None))
    idle_stop: float = 600.0  # seconds without a call after which a connection is closed
    # Seconds that a removed server goes on, for catalogs that still have it.
    retire_after: float = 10.0
    http: HttpClient = field(default_factory=HttpClient)
    authorize: Authorize | None = None
    on_challenge: OnChallenge | None = None
    guard: GroupGuard = field(default_factory=Unguarded)
    copies: Copies | None = None  # None: no other process of ours could run a server for us
    watch: Watch = UNWATCHED
