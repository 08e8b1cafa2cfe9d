"""What a running script says about itself, line by line, passed on to its Channel."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import orjson

from toolyard.protocol.call import LOG_LEVELS, Channel, Json, JsonObject
from toolyard.protocol.kinds import LIST_CHANGED, RESOURCE_UPDATED

Announce: TypeAlias = Callable[[str, JsonObject], None]
Clock: TypeAlias = Callable[[], float]

ANNOUNCED = frozenset({*LIST_CHANGED.values(), RESOURCE_UPDATED})


class Throttle:
    """At most so many a minute; the rest is dropped."""

    __slots__ = ("_clock", "_left", "_size", "_until")

    def __init__(self, size: int, clock: Clock) -> None:
        self._size = size
        self._clock = clock
        self._left = size
        self._until = 0.0

    def take(self) -> bool:
        now = self._clock()
        if now >= self._until:
            self._left, self._until = self._size, now + 60.0
        self._left -= 1
        return self._left >= 0


class Reporter:
    """Reads the notification lines of one call."""

    __slots__ = ("_announce", "_channel", "_logs", "_on_progress", "_progress")

    def __init__(
        self,
        channel: Channel,
        announce: Announce,
        on_progress: Callable[[], None],
        progress: Throttle,
        logs: Throttle,
    ) -> None:
        self._channel = channel
        self._announce = announce
        self._on_progress = on_progress
        self._progress = progress
        self._logs = logs

    def line(self, raw: bytes) -> None:
        """Progress, a log message, an announcement; anything else is a sign of life."""
        try:
            message = orjson.loads(raw)
        except orjson.JSONDecodeError:
            message = None
        if not isinstance(message, dict):
            self._on_progress()
            return
        if message.get("control") == "close_stream":
            self._channel.close_stream()
            return
        params = message.get("params")
        self._notification(message.get("method"), params if isinstance(params, dict) else {})

    def _notification(self, method: Json, params: JsonObject) -> None:
        if method == "notifications/progress":
            self._report_progress(params)
        elif method == "notifications/message":
            self._report_log(params)
        elif isinstance(method, str) and method in ANNOUNCED:
            self._announce(method, params)
        else:
            self._on_progress()

    def _report_progress(self, params: JsonObject) -> None:
        """The token in the line does not matter: the channel knows its call's own."""
        self._on_progress()
        progress = number(params.get("progress"))
        if progress is None or not self._progress.take():
            return
        message = params.get("message")
        self._channel.progress(
            progress, number(params.get("total")), message if isinstance(message, str) else None
        )

    def _report_log(self, params: JsonObject) -> None:
        if not self._logs.take():
            return
        level, logger = params.get("level"), params.get("logger")
        self._channel.log(
            level if level in LOG_LEVELS else "info",
            params.get("data"),
            logger if isinstance(logger, str) else None,
        )


def number(value: Json) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value
