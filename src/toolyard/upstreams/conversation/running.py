"""A call under way at an upstream: where its progress, logs and questions go, and its deadline."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from toolyard.processes.pacing import Pace
from toolyard.protocol.call import Call, Channel, Json, JsonObject, Session
from toolyard.protocol.revisions import LATEST, Revision
from toolyard.protocol.tasks.words import declares
from toolyard.telemetry import logger
from toolyard.upstreams.link.link import MAX_MESSAGE, UNREQUESTED_RATE

log = logger("upstreams")
MESSAGE_RATE = 100.0
TaskForm: TypeAlias = Literal["core", "extension"]


@dataclass(frozen=True, slots=True)
class Limits:
    """How long an upstream may take, and how much it may say."""

    start: float = 60.0  # from spawning or dialling to the end of the handshake
    silence: float = 1.0  # before a server that ignores `server/discover` is greeted the old way
    call: float = 300.0  # without an answer or a sign of progress
    longest: float = 3600.0  # whatever progress is reported
    probe: float = 5.0  # for a sign of life after a call timed out
    message: int = MAX_MESSAGE  # the bytes of one message
    entries: int = 10_000  # of each of its lists
    unrequested_rate: float = (
        UNREQUESTED_RATE  # messages a second that nobody asked for; it is read no faster
    )
    message_rate: float = MESSAGE_RATE  # messages a second that one call may tell its client


class CallDeadline:
    """Cancels a task when its time is up."""

    __slots__ = ("_all", "_cancelling", "_idle", "_started", "_task", "expired", "when")

    def __init__(self, deadlines: Deadlines, task: asyncio.Task[Any], idle: float) -> None:
        self._all = deadlines
        self._task = task
        self._cancelling = task.cancelling()
        self._idle = idle
        self._started = started = deadlines.clock()
        self.when = started + idle  # by the loop's clock
        self.expired = False

    def expire(self) -> None:
        self.expired = True
        self._task.cancel()

    def extend(self, *, waiting: bool) -> None:
        """A sign of life, or somebody is thinking: the clock starts anew."""
        if self.expired:
            return
        latest = self._started + max(self._all.longest, self._idle)
        soon = self._all.clock() + self._idle
        self.when = latest if waiting else min(soon, latest)
        self._all.watch(self)

    def caused(self) -> bool:
        """Was it the deadline that cancelled the task, and nobody else?"""
        return self.expired and self._task.uncancel() <= self._cancelling


class Deadlines:
    """All deadlines of a connection on one timer: setting one is all but free.

    Most calls have the same time and end long before: the timer is the oldest one's, and is
    set again only where a deadline is earlier, or once it has gone off.
    """

    def __init__(self, longest: float) -> None:
        self.longest = longest  # whatever signs of life there are
        # Looked up once: finding the running loop costs a system call.
        self._loop = loop = asyncio.get_running_loop()
        self.clock = loop.time
        self._open: set[CallDeadline] = set()
        self.stop = self._open.discard
        self._timer: asyncio.TimerHandle | None = None
        self._next = 0.0

    def start(self, seconds: float) -> CallDeadline:
        """For the current task."""
        task = asyncio.current_task(self._loop)
        assert task is not None
        deadline = CallDeadline(self, task, seconds)
        self._open.add(deadline)
        if self._timer is None or deadline.when < self._next:
            self._set_timer(deadline.when)
        return deadline

    def watch(self, deadline: CallDeadline) -> None:
        if self._timer is None or deadline.when < self._next:
            self._set_timer(deadline.when)

    def close(self) -> None:
        self._open.clear()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _set_timer(self, when: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._next = when
        self._timer = self._loop.call_at(when, self._look)

    def _look(self) -> None:
        self._timer = None
        # A loop may be early by less than its clock can tell.
        for deadline in [deadline for deadline in self._open if deadline.when <= self._next]:
            self._open.discard(deadline)
            deadline.expire()
        if self._open:
            self._set_timer(min(deadline.when for deadline in self._open))


class Running:
    """One call, from the moment it is sent until its answer is here."""

    __slots__ = (
        "_pace",
        "_waiting",
        "asked",
        "call",
        "channel",
        "deadline",
        "form",
        "message_rate",
        "number",
        "tasks",
        "token",
    )

    def __init__(self, call: Call, channel: Channel) -> None:
        self.call = call
        self.channel = channel
        self.token: Json = None
        if call.meta or call.task is not None:
            self.token = call.meta.get("progressToken", call.task.id if call.task else None)
        self.number = 0  # the id of its last request
        # May it be answered with a task? Whoever declares that looks after it, or passes it on.
        self.tasks = False
        if call.task is not None or "extensions" in call.client.capabilities:
            self.tasks = call.method == "tools/call" and (
                call.task is not None or passes_tasks_on(call)
            )
        # The form of tasks that its connection must have, where the client's own may lack it.
        self.form: TaskForm | None = None
        self.asked = 0
        self._waiting = 0
        self.deadline: CallDeadline | None = None
        self.message_rate = MESSAGE_RATE
        self._pace: Pace | None = None

    def _extend(self) -> None:
        if self.deadline is not None:
            self.deadline.extend(waiting=self._waiting > 0)

    def _may_tell(self) -> bool:
        """More than its client could want to hear is dropped and counted."""
        if self._pace is None:
            self._pace = Pace(self.message_rate)
        if self._pace.admits():
            return True
        if self._pace.dropped in (1, 1000, 1_000_000):
            log.warning(
                "%s says more than %g messages a second, dropped so far: %d",
                self.call.params.get("name", self.call.method),
                self.message_rate,
                self._pace.dropped,
            )
        return False

    def progress(self, params: JsonObject) -> None:
        self._extend()
        if not self._may_tell():
            return
        progress, total, message = (params.get(key) for key in ("progress", "total", "message"))
        if isinstance(progress, int | float):
            # Through the channel and not raw: a parked call may have come back with another token.
            self.channel.progress(
                progress,
                total if isinstance(total, int | float) else None,
                message if isinstance(message, str) else None,
            )

    def message(self, params: JsonObject) -> None:
        name = params.get("logger")
        level = params.get("level")
        if isinstance(level, str) and self._may_tell():
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


def passes_tasks_on(call: Call) -> bool:
    """Can the client of this call take a handle in place of the result?"""
    return call.revision.tasks == "extension" and declares(call.client.capabilities)


def latest_of_one_client(running: Iterable[Running]) -> Running | None:
    """Whose message is this, on a stream that does not say? Nobody's, if several could be meant."""
    calls = list(dict.fromkeys(running))
    if not calls or (len(calls) > 1 and not _of_one_session(calls)):
        return None
    return calls[-1]


def _of_one_session(calls: Iterable[Running]) -> bool:
    sessions = {session.key if (session := running.channel.session) else None for running in calls}
    return len(sessions) == 1 and None not in sessions


@dataclass(frozen=True, slots=True)
class Owner:
    """The client that a connection is for: what we say of it, and where it can be asked."""

    capabilities: JsonObject
    session: Session | None = None
    # Of the client; of a handshake connection that is shared, our latest one.
    revision: Revision = LATEST
    shared: bool = False
    # The call for which it is opened.
    borrower: Running | None = None
