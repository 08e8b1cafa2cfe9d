"""A call under way at an upstream: where its progress, logs and questions go, and its deadline."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass

from toolyard.protocol.call import Call, Channel, Json, JsonObject, Session


@dataclass(frozen=True, slots=True)
class Limits:
    """How long an upstream may take."""

    start: float = 60.0  # from spawning or dialling to the end of the handshake
    silence: float = 1.0  # before a server that ignores `server/discover` is greeted as well
    call: float = 300.0  # without an answer or a sign of progress
    longest: float = 3600.0  # whatever progress is reported
    probe: float = 5.0  # for a sign of life after a call timed out


class Deadline:
    """Cancels the current task when its time is up; asyncio's own costs four times as much."""

    __slots__ = ("_cancelling", "_task", "_timer", "expired")

    def __init__(self, seconds: float) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._task = task
        self._cancelling = task.cancelling()
        self._timer = asyncio.get_running_loop().call_later(seconds, self._expire)
        self.expired = False

    def _expire(self) -> None:
        self.expired = True
        self._task.cancel()

    def move(self, when: float) -> None:
        """To another time of the loop's clock."""
        self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_at(when, self._expire)

    def stop(self) -> None:
        self._timer.cancel()

    def caused(self) -> bool:
        """Was it the deadline that cancelled the task, and nobody else?"""
        return self.expired and self._task.uncancel() <= self._cancelling


class Running:
    """One call, from the moment it is sent until its answer is here."""

    __slots__ = ("_deadline", "_idle", "_last", "_waiting", "asked", "call", "channel", "token")

    def __init__(self, call: Call, channel: Channel) -> None:
        self.call = call
        self.channel = channel
        self.token: Json = call.meta.get("progressToken")
        self.asked = 0
        self._waiting = 0
        self._deadline: Deadline | None = None
        self._idle = self._last = 0.0

    # -- the deadline ------------------------------------------------------------------

    def watched_by(self, deadline: Deadline, idle: float, longest: float) -> None:
        self._deadline = deadline
        self._idle = idle
        self._last = asyncio.get_running_loop().time() + longest

    def finished(self) -> None:
        self._deadline = None

    def _extend(self) -> None:
        """A sign of life, or its client is thinking: the clock starts anew."""
        if self._deadline is None or self._deadline.expired:
            return
        soon = asyncio.get_running_loop().time() + self._idle
        self._deadline.move(self._last if self._waiting else min(soon, self._last))

    # -- what the upstream says meanwhile ----------------------------------------------

    def progress(self, params: JsonObject) -> None:
        self._extend()
        progress, total, message = (params.get(key) for key in ("progress", "total", "message"))
        if isinstance(progress, int | float):
            # By the channel and not raw: a parked call may have come back with another token.
            self.channel.progress(
                progress,
                total if isinstance(total, int | float) else None,
                message if isinstance(message, str) else None,
            )

    def message(self, params: JsonObject) -> None:
        name = params.get("logger")
        level = params.get("level")
        if isinstance(level, str):
            self.channel.log(level, params.get("data"), name if isinstance(name, str) else None)

    async def ask(self, method: str, params: JsonObject) -> Json:
        """Put the upstream's question to the client of this call."""
        self.asked += 1
        key = f"{method.partition('/')[0]}-{self.asked}"
        self._waiting += 1
        self._extend()
        try:
            answers = await self.channel.ask({key: {"method": method, "params": params}})
        finally:
            self._waiting -= 1
            self._extend()
        return answers.get(key)


def latest_of_one_caller(running: Iterable[Running]) -> Running | None:
    """Whose message is this, on a stream that does not say? Nobody's, if several could be meant."""
    calls = list(running)
    if len({one.call.caller.id for one in calls}) != 1:
        return None
    return calls[-1]


@dataclass(frozen=True, slots=True)
class Owner:
    """The one client that a connection belongs to, and what it can be asked."""

    capabilities: JsonObject
    session: Session | None = None
