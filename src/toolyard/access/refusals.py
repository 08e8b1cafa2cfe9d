"""Requests that were refused for want of a credential (401, or the remote token), in the audit log.

Whoever is refused may come back as often as they like: lines are few, the rest is counted.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextvars import ContextVar

from toolyard.access.audit_file import AuditFile
from toolyard.http.request import Request
from toolyard.http.response import Responder, Response

MOST, WITHIN = 30, 60.0
UNAUTHORIZED = "unauthorized"
# Where the request that is being read came from; None over stdio.
_FROM: ContextVar[str | None] = ContextVar("_FROM", default=None)


class Refusals:
    """At most `MOST` lines in a minute, then one that says how many more there were."""

    def __init__(self, lines: AuditFile, clock: Callable[[], float] = time.monotonic) -> None:
        self._lines = lines
        self._clock = clock
        self._since = float("-inf")
        self._written = 0
        self._more = 0
        self._timer: asyncio.TimerHandle | None = None

    def over(self, responder: Responder) -> Responder:
        """The responder, whose 401s are noted, whichever part of it gives them."""

        def noting(request: Request, response: Response) -> Awaitable[None]:
            _FROM.set(request.address or None)
            response.watch(self._note_refusal)
            return responder(request, response)

        return noting

    def _note_refusal(self, status: int, _body: bytes) -> None:
        if status == 401:
            self.note_current()

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
            delay = self._since + WITHIN - now
            self._timer = asyncio.get_running_loop().call_later(delay, self._sum_up)

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
