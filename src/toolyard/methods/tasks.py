"""tasks/*: both forms of them over one desk. Loaded with the first request that concerns a task.

The order of refusals: the transport has checked that the revision has the method; then comes
what the client declares, then the params, then whether the task is this caller's.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import aclosing, suppress
from typing import Any, Protocol

from toolyard.catalog.entries import Tool
from toolyard.errors import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    ProtocolError,
    ToolError,
)
from toolyard.protocol.asking.putting import refuse_unaskable
from toolyard.protocol.call import LOCAL, Call, Channel, Handler, Json, JsonObject, Result
from toolyard.protocol.tasks.forms import (
    core_handle,
    core_outcome,
    core_task,
    detailed,
    handle,
)
from toolyard.protocol.tasks.record import TaskRecord
from toolyard.protocol.tasks.words import declares, related, undeclared, unknown_task, wished_ttl
from toolyard.tasks.desk import TaskDesk, Undertaking, Work
from toolyard.tasks.questions import OpenQuestion
from toolyard.tasks.records import TaskLimits
from toolyard.tasks.running import RunningTask
from toolyard.telemetry import logger

log = logger("tasks")
PAGE = 100


class Office(Protocol):
    """Where the desk is, once there is one."""

    @property
    def limits(self) -> TaskLimits: ...

    def desk(self) -> TaskDesk:
        """Raises OSError where its folder cannot be used."""

    def desk_if_any(self) -> TaskDesk | None:
        """None while nobody has ever made a task."""


class TaskMethods:
    """What each method means, in the form of the revision that asks."""

    def __init__(self, office: Office) -> None:
        self._office = office
        self._table: dict[tuple[str, str], Handler] = {
            ("extension", "tasks/get"): self._get,
            ("extension", "tasks/update"): self._update,
            ("extension", "tasks/cancel"): self._cancel,
            ("core", "tasks/get"): self._get_core,
            ("core", "tasks/result"): self._result,
            ("core", "tasks/list"): self._list,
            ("core", "tasks/cancel"): self._cancel_core,
        }

    async def begin(
        self, call: Call, channel: Channel, tool: Tool, work: Work, upstream: Json = None
    ) -> Result:
        """Make a task of a call of this tool: its handle. `upstream`: it runs there already."""
        undertaking = Undertaking(tool.name, work, self._ttl(call, tool), upstream)
        try:
            desk = self._office.desk()
        except OSError as error:
            raise ToolError(f"tasks cannot be kept: {error}") from None
        record = await desk.begin(call, channel, undertaking)
        return core_handle(record) if call.revision.tasks == "core" else handle(record)

    def _ttl(self, call: Call, tool: Tool) -> int:
        """As long as the work may take and its outcome is kept, or what the client wishes."""
        limits, seconds = self._office.limits, tool.extra.get("taskTimeoutSecs")
        work = int(seconds * 1000) if isinstance(seconds, int | float) else limits.work
        wish = wished_ttl(call.params) if call.revision.tasks == "core" else None
        return min(wish or work + limits.keep, limits.longest)

    def answer(self, call: Call, channel: Channel) -> Awaitable[Result]:
        """`resume` waits for a task that an earlier process has begun."""
        method = self._table.get((call.revision.tasks, call.method))
        if method is None:
            raise ProtocolError(METHOD_NOT_FOUND, "Method not found", call.method)
        if call.revision.tasks == "extension" and not declares(call.client.capabilities):
            raise undeclared()
        return self._answer(method, call, channel)

    async def _answer(self, method: Handler, call: Call, channel: Channel) -> Result:
        try:
            desk = self._office.desk_if_any()
            task_id = call.params.get("taskId")
            if desk is not None and isinstance(task_id, str):
                await desk.take_over(task_id, call.caller)
            return await method(call, channel)
        except OSError as error:
            log.error("%s cannot be answered: %s", call.method, error)
            away = "What is kept of tasks cannot be reached at the moment; ask again"
            raise ProtocolError(INTERNAL_ERROR, away) from None

    async def _find(self, call: Call) -> tuple[TaskDesk, TaskRecord]:
        task_id = call.params.get("taskId")
        if not isinstance(task_id, str):
            raise ProtocolError(INVALID_PARAMS, "taskId is required")
        desk = self._office.desk_if_any()
        if desk is None:
            raise unknown_task()
        return desk, await desk.get(task_id, call.caller)

    # -- the extension -----------------------------------------------------------------

    async def _get(self, call: Call, _channel: Channel) -> Result:
        _, record = await self._find(call)
        return detailed(record)

    async def _update(self, call: Call, _channel: Channel) -> Result:
        if call.input_responses is None:
            raise ProtocolError(INVALID_PARAMS, "inputResponses must be an object")
        desk, record = await self._find(call)
        await desk.answer(record, call.input_responses)
        return {}

    async def _cancel(self, call: Call, _channel: Channel) -> Result:
        desk, record = await self._find(call)
        await desk.cancel(record)
        return {}

    async def watch(self, call: Call, ids: Json, tell: Callable[[JsonObject], None]) -> TaskWatch:
        """Tell of every state of the caller's own among these tasks, from now on."""
        if not declares(call.client.capabilities):
            raise undeclared()
        if not isinstance(ids, list) or len(ids) > PAGE:
            raise ProtocolError(INVALID_PARAMS, f"taskIds must be an array of at most {PAGE} ids")
        watch, desk = TaskWatch(), self._office.desk_if_any()
        for task_id in dict.fromkeys(item for item in ids if isinstance(item, str)):
            if desk is not None and await _is_known(desk, task_id, call):
                watch.add(task_id, desk.follow(task_id, call.caller), tell)
        return watch

    # -- the core form -----------------------------------------------------------------

    async def _get_core(self, call: Call, _channel: Channel) -> Result:
        _, record = await self._find(call)
        return core_task(record)

    async def _cancel_core(self, call: Call, _channel: Channel) -> Result:
        desk, record = await self._find(call)
        if record.over:
            raise ProtocolError(INVALID_PARAMS, f"The task is over already: {record.status}")
        return core_task(await desk.cancel(record))

    async def _list(self, call: Call, _channel: Channel) -> Result:
        """Not for callers whom nobody has told apart: each would see the tasks of all."""
        if call.caller.id == LOCAL.id:
            raise ProtocolError(METHOD_NOT_FOUND, "Method not found", call.method)
        desk = self._office.desk_if_any()
        records = await desk.summaries(call.caller.id) if desk is not None else []
        page = _after(records, call.params.get("cursor"))
        result: JsonObject = {"tasks": [core_task(record) for record in page[:PAGE]]}
        return result if len(page) <= PAGE else {**result, "nextCursor": page[PAGE - 1].id}

    async def _result(self, call: Call, channel: Channel) -> Result:
        """Wait for the end; meanwhile put the task's questions to the client, on this stream."""
        desk, record = await self._find(call)
        waiting = _Waiting(desk, call, channel)
        try:
            async with aclosing(desk.follow(record.id, call.caller)) as states:
                async for record in states:
                    waiting.look_at(record)
        finally:
            waiting.end()
        return core_outcome(record)


class _Waiting:
    """A client that waits for the result of a task, and is asked the questions of it.

    Where the task runs here, a question is put to one client at a time. Where it runs in another
    process, what its record shows is put to the client here, and the answer sent there. What this
    client cannot be asked is left to another one: the client that began the task could.
    """

    def __init__(self, desk: TaskDesk, call: Call, channel: Channel) -> None:
        self._desk = desk
        self._call = call
        self._channel = channel
        self._asking: dict[str, asyncio.Task[None]] = {}

    def look_at(self, record: TaskRecord) -> None:
        task = self._desk.running(record.id)
        if task is None:
            self._look_elsewhere(record)
            return
        for entry in task.questions.unclaimed():
            if self._can_be_asked(entry.question):
                entry.claimed = True
                self._start(entry.key, _put(task, entry, self._channel))

    def _look_elsewhere(self, record: TaskRecord) -> None:
        for key in self._asking.keys() - record.questions.keys():
            self._asking.pop(key).cancel()  # somebody else has answered it
        for key in record.questions.keys() - self._asking.keys():
            if self._can_be_asked(record.questions[key]):
                self._start(key, self._pass_on(record, key))

    def _can_be_asked(self, question: JsonObject) -> bool:
        try:
            refuse_unaskable({"": question}, self._call.client, self._call.revision)
        except (ProtocolError, ToolError):
            return False
        return True

    def _start(self, key: str, work: Coroutine[Any, Any, None]) -> None:
        self._asking[key] = asyncio.get_running_loop().create_task(work)

    async def _pass_on(self, record: TaskRecord, key: str) -> None:
        question = _tagged(record.questions[key], record.id)
        try:
            answers = await self._channel.ask({key: question})
        except (ProtocolError, ToolError) as error:
            await self._desk.refuse(record, key, error)
        else:
            await self._desk.deliver(record, answers)

    def end(self) -> None:
        for question in self._asking.values():
            question.cancel()


def _tagged(question: JsonObject, task_id: str) -> JsonObject:
    """As everything that is said for a task must be."""
    params = question.get("params") or {}
    meta = {**(params.get("_meta") or {}), **related(task_id)}
    return {**question, "params": {**params, "_meta": meta}}


def _after(records: list[TaskRecord], cursor: Json) -> list[TaskRecord]:
    """A cursor is the id of the last task that was shown."""
    if cursor is None:
        return records
    for number, record in enumerate(records, 1):
        if record.id == cursor:
            return records[number:]
    raise ProtocolError(INVALID_PARAMS, "Invalid cursor")


async def _put(task: RunningTask, entry: OpenQuestion, channel: Channel) -> None:
    """Ask on behalf of the task. Whoever asks next has it again, should this request end."""
    try:
        answers = await channel.ask({entry.key: _tagged(entry.question, task.record.id)})
    except (ProtocolError, ToolError) as error:
        task.questions.refuse(entry, error)
    except asyncio.CancelledError:
        entry.claimed = False
        raise
    else:
        task.questions.settle(entry, answers[entry.key])


async def _is_known(desk: TaskDesk, task_id: str, call: Call) -> bool:
    try:
        await desk.get(task_id, call.caller)
    except ProtocolError:
        return False
    return True


class TaskWatch:
    """Who follows the tasks of one listen stream."""

    def __init__(self) -> None:
        self._followers: dict[str, asyncio.Task[None]] = {}

    @property
    def ids(self) -> list[str]:
        return list(self._followers)

    def add(
        self, task_id: str, states: AsyncIterator[TaskRecord], tell: Callable[[JsonObject], None]
    ) -> None:
        work = _follow(states, tell)
        self._followers[task_id] = asyncio.get_running_loop().create_task(work)

    def leave(self) -> None:
        for follower in self._followers.values():
            follower.cancel()


async def _follow(states: AsyncIterator[TaskRecord], tell: Callable[[JsonObject], None]) -> None:
    with suppress(ProtocolError):  # its time is over
        async for record in states:
            tell(detailed(record))
