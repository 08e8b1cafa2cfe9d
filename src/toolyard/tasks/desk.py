"""Where tasks are begun, asked about, fed and ended.

The order of a beginning: the record is written, then the work starts, then the handle is given
away. A task that ends is written before it is forgotten here: what is over is only in the
records, and this process holds what runs.

A record whose process has ended speaks of work that nobody does any more. Whoever comes across
it says so: the task has failed, and is not run again. Where the work goes on at an upstream,
whoever asks for it or follows it makes this process go on waiting for it.

Every id is refused alike that this caller was not given: see identifiers.py.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple, TypeAlias

from toolyard.errors import INTERNAL_ERROR, RATE_LIMITED, ProtocolError, ToolError
from toolyard.protocol.asking.rounds import answered
from toolyard.protocol.call import (
    AsTask,
    Call,
    Caller,
    Channel,
    Client,
    Encoded,
    JsonObject,
    Result,
)
from toolyard.protocol.cancelling import LEAVING
from toolyard.protocol.channel import of_task
from toolyard.protocol.codec import dumps, exact
from toolyard.protocol.failures import failure
from toolyard.protocol.revisions import ALL, LATEST
from toolyard.protocol.tasks.record import TaskRecord
from toolyard.protocol.tasks.words import unknown_task
from toolyard.tasks.identifiers import belongs, new_id
from toolyard.tasks.records import Note, TaskLimits, TaskRecords
from toolyard.tasks.running import RunningTask, TaskChannel, now
from toolyard.telemetry import logger

log = logger("tasks")
LOOK_EVERY = 0.5  # seconds, for notes of other processes
LISTENS_WITHIN = 3.0

Work: TypeAlias = Callable[[Call, Channel], Awaitable[Result]]


class Undertaking(NamedTuple):
    """What is to become a task."""

    tool: str
    work: Work
    ttl: int  # milliseconds
    upstream: JsonObject | None = None


class TaskDesk:
    """The tasks of one process, and the records that it may share with others."""

    def __init__(self, records: TaskRecords, keys: Sequence[bytes], limits: TaskLimits) -> None:
        """`keys`: the first one makes ids, those of all are known."""
        self._records = records
        self._keys = tuple(keys)
        self._limits = limits
        # Waits for what an earlier process has begun at an upstream; None where nothing can.
        self.resume: Work | None = None
        self._running: dict[str, RunningTask] = {}
        self._notes: asyncio.Task[None] | None = None

    @property
    def running_count(self) -> int:
        """How many tasks this process works for."""
        return len(self._running)

    # -- beginning ---------------------------------------------------------------------

    async def begin(self, call: Call, channel: Channel, undertaking: Undertaking) -> TaskRecord:
        """Raises ProtocolError if the caller has too many, ToolError if it cannot be kept."""
        caller, moment = call.caller.id, now()
        record = TaskRecord(
            id=new_id(self._keys[0], caller),
            caller=caller,
            tool=undertaking.tool,
            created=moment,
            updated=moment,
            ttl=undertaking.ttl,
            poll=self._limits.poll,
            owner=self._records.owner,
            upstream=undertaking.upstream,
            revision=call.revision.date,
            client=call.client.capabilities,
        )
        try:
            await self._refuse_too_many(caller)
            await self._records.write(record)
        except OSError as error:
            log.error("a task was refused: %s", error)
            raise ToolError("the task could not be written down, and was not begun") from None
        except asyncio.CancelledError:
            with suppress(OSError):
                left = record.cancelled(now(), "its client left before it began")
                await self._records.write(left)
            raise
        task_call = replace(call, task=AsTask(record.id, record.upstream))
        session = channel.session
        task = RunningTask(record, task_call, self._records.write, session)
        beside = of_task(channel, record.id)
        self._start(task, TaskChannel(task, session, beside), undertaking)
        return record

    async def _refuse_too_many(self, caller: str) -> None:
        holdings, limits = await self._records.holdings(caller), self._limits
        if holdings.running >= limits.running:
            raise _full(f"{limits.running} tasks are running already; cancel one, or wait")
        if holdings.kept >= limits.kept:
            raise _full(f"{limits.kept} tasks are kept already; they are forgotten with time")
        if holdings.size >= limits.size:
            raise _full(f"tasks hold {limits.size} bytes already; they are forgotten with time")

    def _start(self, task: RunningTask, channel: Channel, undertaking: Undertaking) -> None:
        self._running[task.record.id] = task
        loop = asyncio.get_running_loop()
        task.work = loop.create_task(self._carry_out(task, channel, undertaking.work))
        if self._notes is None or self._notes.done():
            self._notes = loop.create_task(self._heed_notes())

    async def _carry_out(self, task: RunningTask, channel: Channel, work: Work) -> None:
        try:
            left = max(0.0, (task.record.expires - now()) / 1000)
            async with asyncio.timeout(left):
                record = await self._outcome(task, channel, work)
        except TimeoutError:
            over = ProtocolError(INTERNAL_ERROR, "The task took longer than it is kept for")
            record = task.record.failed(over, now())
        await self._end(task, record)

    async def _outcome(self, task: RunningTask, channel: Channel, work: Work) -> TaskRecord:
        try:
            result = await work(task.call, channel)
            result = await answered(
                result, task.call, lambda again: work(again, channel), channel.ask
            )
            return self._completed(task, result)
        except ProtocolError as error:
            return task.record.failed(error, now())
        except ToolError as error:
            return task.record.completed(failure(error), now())
        except Exception:
            log.exception("the task of %s failed", task.record.tool)
            return task.record.failed(ProtocolError(INTERNAL_ERROR, "Internal error"), now())

    def _completed(self, task: RunningTask, result: Result) -> TaskRecord:
        value: JsonObject = exact(result.body) if isinstance(result, Encoded) else result
        if len(dumps(value)) > self._limits.one:
            raise ToolError(f"the result is larger than {self._limits.one} bytes: it was not kept")
        return task.record.completed(value, now())

    async def _end(self, task: RunningTask, record: TaskRecord) -> None:
        try:
            await task.end(record)
        except OSError as error:
            # Kept here, then: the result is not lost as long as this process lives.
            log.error("the outcome of a task of %s was not written: %s", record.tool, error)
            left = (record.expires - now()) / 1000
            asyncio.get_running_loop().call_later(left, self._running.pop, record.id, None)
            return
        self._running.pop(record.id, None)

    # -- asking about one --------------------------------------------------------------

    async def get(self, task_id: str, caller: Caller) -> TaskRecord:
        """Raises ProtocolError for an id that this caller was not given, or no longer has."""
        if not belongs(self._keys, task_id, caller.id):
            raise unknown_task()
        record = await self.find(task_id)
        if record is None:
            raise unknown_task()
        return record

    async def find(self, task_id: str) -> TaskRecord | None:
        """Anybody's: for whoever owns this server."""
        task = self._running.get(task_id)
        if task is not None:
            return task.record if task.record.expires > now() else None
        record = await self._records.read(task_id)
        return None if record is None else await self._accounted_for(record)

    async def take_over(self, task_id: str, caller: Caller) -> None:
        """Go on waiting for a task that a process which has ended began at an upstream."""
        resume = self.resume
        if resume is None or task_id in self._running:
            return
        if not belongs(self._keys, task_id, caller.id):
            return
        record = await self._records.read(task_id)
        if record is None or record.upstream is None or not await self._is_orphan(record):
            return
        if task_id in self._running:
            return  # another request was faster
        # What was asked is asked anew, under another key: an answer to the old one finds nobody.
        record = replace(record.asking({}, now()), owner=self._records.owner)
        call = Call(
            "tools/call",
            {"name": record.tool},
            ALL.get(record.revision, LATEST),
            Client({}, record.client),
            caller,
            task=AsTask(task_id, record.upstream),
        )
        suffix = f"-{secrets.token_hex(3)}"
        task = RunningTask(record, call, self._records.write, suffix=suffix)
        undertaking = Undertaking(record.tool, resume, record.ttl)
        self._start(task, TaskChannel(task, None, None), undertaking)
        await self._records.write(record)

    async def _is_orphan(self, record: TaskRecord) -> bool:
        return not record.over and not await self._records.is_alive(record.owner)

    async def summaries(self, caller: str | None = None) -> list[TaskRecord]:
        """The newest first; what runs here as it is now."""
        records = await self._records.summaries(caller)
        return [
            task.record
            if (task := self._running.get(record.id))
            else await self._accounted_for(record)
            for record in records
        ]

    async def _accounted_for(self, record: TaskRecord) -> TaskRecord:
        if record.upstream is not None or not await self._is_orphan(record):
            return record
        whole = await self._records.read(record.id) or record
        if whole.over:
            return whole  # meanwhile
        why = "The server that ran this task was stopped or died; the task was not run again"
        failed = whole.failed(ProtocolError(INTERNAL_ERROR, why), now())
        is_first = await self._records.write(failed)
        return failed if is_first else await self._records.read(record.id) or failed

    async def follow(self, task_id: str, caller: Caller) -> AsyncGenerator[TaskRecord, None]:
        """Its state now, and each one after that, to its end. Raises ProtocolError.

        Raises OSError if it cannot be read at first; later on, that is waited for.
        """
        record = await self.get(task_id, caller)
        while True:
            yield record
            if record.over:
                return
            record = await self._next(record, caller)

    async def _next(self, record: TaskRecord, caller: Caller) -> TaskRecord:
        while True:
            task = self._running.get(record.id)
            if task is None:  # another process has it
                await asyncio.sleep(LOOK_EVERY)
            elif task.record is record:
                await task.changes()
            try:
                if record.upstream is not None:
                    await self.take_over(record.id, caller)
                newer = await self.get(record.id, caller)
            except OSError as error:
                log.warning("the state of a task cannot be read: %s", error)
                continue
            if newer != record:
                return newer
            record = newer

    def running(self, task_id: str) -> RunningTask | None:
        return self._running.get(task_id)

    # -- acting on one -----------------------------------------------------------------

    async def answer(self, record: TaskRecord, answers: JsonObject) -> None:
        await self._tell(record, {"answers": answers})

    async def deliver(self, record: TaskRecord, answers: JsonObject) -> None:
        """The same, where nobody would hear that it cannot be done now: tried until it can."""
        await self._tell_in_the_end(record, {"answers": answers})

    async def refuse(self, record: TaskRecord, key: str, error: ProtocolError | ToolError) -> None:
        """The client has not answered this question, and will not."""
        code = error.code if isinstance(error, ProtocolError) else INTERNAL_ERROR
        refusal = {"code": code, "message": error.message}
        await self._tell_in_the_end(record, {"refusals": {key: refusal}})

    async def _tell_in_the_end(self, record: TaskRecord, message: JsonObject) -> None:
        while True:
            try:
                await self._tell(record, message)
                return
            except OSError as error:
                log.warning("an answer to a task waits: %s", error)
                await asyncio.sleep(LOOK_EVERY)

    async def cancel(self, record: TaskRecord, why: str = "") -> TaskRecord:
        """The record as it is then: over, and it stays so, whatever its work still comes to."""
        is_here = record.id in self._running
        await self._tell(record, {"cancel": why})
        if not is_here:
            await self._see_ended(record, why)
        return await self.find(record.id) or record

    async def _see_ended(self, record: TaskRecord, why: str) -> None:
        """Wait for the process that runs it; one that does not listen has lost its say."""
        deadline = asyncio.get_running_loop().time() + LISTENS_WITHIN
        current: TaskRecord | None = record
        while current is not None and not current.over:
            if asyncio.get_running_loop().time() > deadline:
                if await self._records.is_alive(record.owner):
                    await self._records.write(current.cancelled(now(), why))
                return
            await asyncio.sleep(LOOK_EVERY / 10)
            current = await self.find(record.id)

    async def _tell(self, record: TaskRecord, message: JsonObject) -> None:
        task = self._running.get(record.id)
        if task is not None:
            await self._heed(task, message)
        elif not record.over:
            await self._records.leave(Note(record.id, message), record.owner)

    async def _heed(self, task: RunningTask, message: JsonObject) -> None:
        if "answers" in message:
            task.questions.answer(message["answers"])
        for key, refusal in message.get("refusals", {}).items():
            task.questions.decline(key, ProtocolError(refusal["code"], refusal["message"]))
        if "cancel" in message and not task.record.over:
            await self._end(task, task.record.cancelled(now(), message["cancel"]))
            if task.work is not None:
                task.work.cancel(message["cancel"] or "the task was cancelled")

    async def _heed_notes(self) -> None:
        while self._running:
            await asyncio.sleep(LOOK_EVERY)
            try:
                notes = await self._records.collect(tuple(self._running))
            except OSError as error:
                log.warning("notes for tasks cannot be read: %s", error)
                continue
            for note in notes:
                await self._heed_note(note)

    async def _heed_note(self, note: Note) -> None:
        task = self._running.get(note.task)
        try:
            if task is not None:
                await self._heed(task, note.message)
        except ProtocolError as error:
            log.info("a note for a task of %s is wrong: %s", note.task, error)

    # -- the end -----------------------------------------------------------------------

    async def close(self) -> None:
        """End what runs here. What runs elsewhere goes on, for the next process to wait for."""
        works = [task.work for task in self._running.values() if task.work is not None]
        for task in tuple(self._running.values()):
            if task.record.upstream is None:
                stopped = ProtocolError(INTERNAL_ERROR, "The server was stopped")
                await self._end(task, task.record.failed(stopped, now()))
        for work in works:
            work.cancel(LEAVING)
        await asyncio.gather(*works, return_exceptions=True)
        if self._notes is not None:
            self._notes.cancel()
        await self._records.close()


def _full(why: str) -> ProtocolError:
    return ProtocolError(RATE_LIMITED, f"No more tasks for this caller: {why}")
