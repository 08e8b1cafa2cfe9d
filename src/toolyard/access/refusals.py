"""Requests that were refused for want of a credential (401, or the remote token), in the audit log.

Whoever is refused may come back as often as they like: lines are few, the rest is counted.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, MutableMapping
from contextvars import ContextVar
from typing import Any

from toolyard.access.audit import Lines
from toolyard.http.messages import AsgiApp, Receive, Scope, Send

MOST, WITHIN = 30, 60.0
UNAUTHORIZED = "unauthorized"
# Where the request that is being read came from; None over stdio.
_FROM: ContextVar[str | None] = ContextVar("_FROM", default=None)


class Refusals:
    """At most `MOST` lines in a minute, then one that says how many more there were."""

    def __init__(self, lines: Lines, clock: Callable[[], float] = time.monotonic) -> None:
        self._lines = lines
        self._clock = clock
        self._since = float("-inf")
        self._written = 0
        self._more = 0
        self._timer: asyncio.TimerHandle | None = None

    def over(self, app: AsgiApp) -> AsgiApp:
        """The app, whose 401s are noted, whichever part of it gives them."""

        async def noting(scope: Scope, receive: Receive, send: Send) -> None:
            _FROM.set(_address(scope))

            async def noted(message: MutableMapping[str, Any]) -> None:
                if message["type"] == "http.response.start" and message["status"] == 401:
                    self.note_current()
                await send(message)

            await app(scope, receive, noted)

        return noting

    def note_current(self) -> None:
        self.note(_FROM.get())

    def note(self, address: str | None) -> None:
        """Nothing of the request but where it came from: the rest is what somebody made up."""
        now = self._clock()
        if now - self._since >= WITHIN:
            self._sum_up()
            self._since, self._written = now, 0
        if self._written < MOST:
            self._written += 1
            self._lines.write({"outcome": UNAUTHORIZED, "address": address})
            return
        self._more += 1
        if self._timer is None:
            left = self._since + WITHIN - now
            self._timer = asyncio.get_running_loop().call_later(left, self._sum_up)

    def _sum_up(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._more:
            self._lines.write({"outcome": UNAUTHORIZED, "more": self._more})
            self._more = 0

    def close(self) -> None:
        self._sum_up()
        self._lines.close()


def _address(scope: Scope) -> str | None:
    client = scope.get("client")
    return str(client[0]) if client else None
