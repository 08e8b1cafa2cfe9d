"""How an upstream is doing, as the page and /status show it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable

    from toolyard.catalog.snapshot import Catalog

State = Literal["idle", "starting", "up", "down", "disabled"]


class JournalEntry(NamedTuple):
    """Something that happened to an upstream."""

    at: float  # seconds since 1970
    text: str


@dataclass(frozen=True, slots=True)
class Health:
    """One upstream at one moment."""

    server: str
    state: State
    description: str = ""  # what the registry says about it
    reason: str | None = None  # why it is down or disabled
    transport: str | None = None
    revision: str | None = None
    info: str | None = None  # what it calls itself
    connections: int = 0
    restarts: int = 0
    calls: int = 0
    last_error: str | None = None
    stderr: str = ""
    retry_in: float | None = None
    journal: tuple[JournalEntry, ...] = ()  # the oldest first


class Vitals(Protocol):
    """What a server can say of itself at any moment."""

    @property
    def catalog(self) -> Catalog: ...

    @property
    def health(self) -> Iterable[Health]: ...

    @property
    def refused(self) -> bool:
        """Are the registry files invalid as they are now?"""
