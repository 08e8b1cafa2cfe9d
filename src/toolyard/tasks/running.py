"""One task that runs in this process: its record as it changes, and the work behind it.

Only here does the status of a task change, and a task that is over stays as it is: whatever its
work still says or returns is not looked at. A change is shown to whoever waits for one at once;
it is written down at once where the status is another, and once a second where it is not.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import replace

from toolyard.protocol.call import Call, Channel, Json, JsonObject, Questions, Session
from toolyard.protocol.codec import dumps
from toolyard.protocol.tasks.forms import STATUS_CHANGED, core_task
from toolyard.protocol.tasks.record import TaskRecord
from toolyard.protocol.values import LOG_LEVELS
from toolyard.tasks.questions import TaskQuestions
from toolyard.telemetry import logger

log = logger("tasks")
MOST_LINES, LONGEST_LINE = 200, 2000
WRITE_EVERY = 1.0
_TOLD = LOG_LEVELS.index("info")


def now() -> int:
    return int(time.time() * 1000)


class RunningTask:
    """See the head of this module. `write` puts a record where it is kept.

    `session` is told of each new status, where it is one of the core form.
    """

    def __init__(
        self,
        record: TaskRecord,
        call: Call,
        write: Callable[[TaskRecord], Awaitable[bool]],
        session: Session | None = None,
        suffix: str = "",
    ) -> None:
        self.record = record
        self.call = call
        self.questions = TaskQuestions(call, self._questions_changed, suffix)
        self.work: asyncio.Task[None] | None = None
        self._write = write
        self._session = session if call.revision.tasks == "core" else None
        self._lines: deque[str] = deque(record.log, MOST_LINES)
        self._news: asyncio.Future[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._writes: set[asyncio.Task[None]] = set()

    async def changes(self) -> None:
        """Returns when it is not what it was."""
        if self._news is None or self._news.done():
            self._news = asyncio.get_running_loop().create_future()
        await asyncio.shield(self._news)

    async def end(self, record: TaskRecord) -> None:
        """Its last state. Raises OSError if that could not be written."""
        if self.record.over:
            return
        self._become(replace(record, log=tuple(self._lines)))
        if self._timer is not None:
            self._timer.cancel()
        await self._write(self.record)

    async def send_on(self, upstream: JsonObject) -> None:
        """It runs elsewhere from now on; what cannot be written now is, with the next change."""
        self.record = replace(self.record, upstream=upstream)
        await self._try_to_write(self.record)

    def say(self, message: str, progress: tuple[float, float | None] | None = None) -> None:
        if not self.record.over:
            self._become(self.record.saying(message[:LONGEST_LINE], progress, now()))
            self._write_soon()

    def note(self, level: str, data: Json) -> None:
        text = data if isinstance(data, str) else dumps(data).decode()
        self._lines.append(f"{level}: {text}"[:LONGEST_LINE])
        if level in LOG_LEVELS and LOG_LEVELS.index(level) >= _TOLD:
            self.say(text)

    def _questions_changed(self) -> None:
        if not self.record.over:
            self._become(self.record.asking(self.questions.shown, now()))
            self._save()

    def _become(self, record: TaskRecord) -> None:
        """Show it to whoever waits for a change, and to whoever is told unasked."""
        is_news = record.status != self.record.status
        self.record = record
        if self._news is not None and not self._news.done():
            self._news.set_result(None)
        if is_news and self._session is not None:
            self._session.notify(STATUS_CHANGED, core_task(record))

    def _write_soon(self) -> None:
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(WRITE_EVERY, self._save)

    def _save(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if not self.record.over:
            self.record = replace(self.record, log=tuple(self._lines))
            task = asyncio.get_running_loop().create_task(self._try_to_write(self.record))
            self._writes.add(task)
            task.add_done_callback(self._writes.discard)

    async def _try_to_write(self, record: TaskRecord) -> None:
        try:
            await self._write(record)
        except OSError as error:
            log.warning("the state of task %s was not written: %s", record.tool, error)


class TaskChannel(Channel):
    """What the work says becomes the state of its task, and what it asks, the task's questions.

    `beside` hears it too: the session of a client of the core form.
    """

    def __init__(self, task: RunningTask, session: Session | None, beside: Channel | None) -> None:
        self._task = task
        self._session = session
        self._beside = beside

    @property
    def session(self) -> Session | None:
        return self._session

    def notify(self, method: str, params: JsonObject) -> None:
        if self._beside is not None:
            self._beside.notify(method, params)

    def progress(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> None:
        if self._task.record.over:
            return
        self._task.say(message or _so_far(progress, total), (progress, total))
        if self._beside is not None:
            self._beside.progress(progress, total, message)

    def log(self, level: str, data: Json, logger: str | None = None) -> None:
        if self._task.record.over:
            return
        self._task.note(level, data)
        if self._beside is not None:
            self._beside.log(level, data, logger)

    async def ask(self, questions: Questions, timeout: float | None = None) -> JsonObject:
        """For as long as the task is kept, whatever the time for a question in a call."""
        left = max(0.0, (self._task.record.expires - now()) / 1000)
        return await self._task.questions.ask(questions, left) if questions else {}

    async def goes_on_at(self, upstream: JsonObject) -> None:
        """The work is done elsewhere from now on, and would go on there without us."""
        await self._task.send_on(upstream)


def _so_far(progress: float, total: float | None) -> str:
    return f"{progress:g}" if total is None else f"{progress:g} of {total:g}"
