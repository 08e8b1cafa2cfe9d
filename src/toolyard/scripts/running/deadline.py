"""How long a script may run: fixed, or while it reports progress. Knows no clock."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

Expiry: TypeAlias = Literal["fixed", "idle", "max_exceeded"]


class TimeLimit(NamedTuple):
    """`seconds` in all; with `extends`, `seconds` since the last progress and `maximum` in all."""

    seconds: float
    extends: bool = False
    maximum: float = 600.0


class Deadline:
    """Stands still while a question is open."""

    __slots__ = ("_idle_since", "_limit", "_paused_at", "_started")

    def __init__(self, limit: TimeLimit, now: float) -> None:
        self._limit = limit
        self._started = now
        self._idle_since = now
        self._paused_at: float | None = None

    @property
    def extends(self) -> bool:
        return self._limit.extends

    def progressed(self, now: float) -> None:
        if self._paused_at is None:
            self._idle_since = now

    def pause(self, now: float) -> None:
        self._paused_at = now

    def resume(self, now: float) -> None:
        if self._paused_at is None:
            return
        waited = now - self._paused_at
        self._started += waited
        self._idle_since += waited
        self._paused_at = None

    def expired(self, now: float) -> Expiry | None:
        if self._paused_at is not None:
            return None
        if not self._limit.extends:
            return "fixed" if now - self._started >= self._limit.seconds else None
        if now - self._started >= self._limit.maximum:
            return "max_exceeded"
        return "idle" if now - self._idle_since >= self._limit.seconds else None
