"""A task at an upstream, looked after until it is over: in either form, over one connection.

What it says of its state becomes progress of the call that waits for it, and what it asks is put
to the client of that call. In the extension both are in the answers to `tasks/get`. In the core
form `tasks/result` is opened at once: questions come along with it, and the outcome.

A call that is cancelled cancels the task there; unless we are the ones who go, and somebody will
come back for it.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import ClassVar, NamedTuple

from toolyard.errors import INTERNAL_ERROR, ProtocolError, ToolError
from toolyard.protocol.asking.questions import asked_by
from toolyard.protocol.call import Json, JsonObject
from toolyard.protocol.cancelling import LEAVING
from toolyard.protocol.client import ELICIT, TASKS_EXTENSION
from toolyard.protocol.tasks.words import (
    CANCELLED,
    COMPLETED,
    FAILED,
    INPUT_REQUIRED,
    PROGRESS,
    RELATED,
    is_handle,
)
from toolyard.upstreams.conversation.running import Running
from toolyard.upstreams.conversation.session import UpstreamSession
from toolyard.upstreams.link.link import LinkError, Lost, TimedOut

DECLARED: JsonObject = {"extensions": {TASKS_EXTENSION: {}}}
SOONEST, LATEST_POLL, USUAL = 0.05, 60.0, 1.0
# How soon a task is looked at first: most are over long before the pace that a server asks for.
FIRST_LOOK = 0.1
A_DAY = 86_400.0


class UpstreamTask(NamedTuple):
    """What an upstream calls a task, and the tool that it runs."""

    id: str
    tool: str
    core: bool
    poll: float = USUAL  # seconds

    @classmethod
    def of(cls, result: JsonObject, tool: str) -> UpstreamTask | None:
        """The task that a result is a handle of; None for a result. Raises Lost for nonsense."""
        if is_handle(result):
            return cls._named(result, tool, core=False)
        if isinstance(result.get("task"), dict) and "content" not in result:
            return cls._named(result["task"], tool, core=True)
        return None

    @classmethod
    def _named(cls, task: JsonObject, tool: str, *, core: bool) -> UpstreamTask:
        if not isinstance(task.get("taskId"), str):
            raise Lost("answered with a task that has no id")
        interval = task.get("pollInterval" if core else "pollIntervalMs")
        seconds = interval / 1000 if isinstance(interval, int | float) else USUAL
        return cls(task["taskId"], tool, core, min(max(seconds, SOONEST), LATEST_POLL))

    def as_json(self) -> JsonObject:
        return {**self._asdict()}


async def drive(session: UpstreamSession, task: UpstreamTask, running: Running) -> JsonObject:
    """Its result, once it has one. Raises as a call to the upstream does."""
    follow = _Core(session, task, running) if task.core else _Extension(session, task, running)
    try:
        return await follow.outcome()
    except asyncio.CancelledError as cancelled:
        if cancelled.args != (LEAVING,):
            session.send_off("tasks/cancel", {"taskId": task.id}, follow.declares)
        raise
    finally:
        for question in follow.asking:
            question.cancel()


class _Drive:
    """What both forms share: what is known of the state, and for how long nothing changed."""

    declares: ClassVar[JsonObject] = {}

    def __init__(self, session: UpstreamSession, task: UpstreamTask, running: Running) -> None:
        self._session = session
        self._task = task
        self._running = running
        self._said = 0
        self._message: Json = None
        self.asking: set[asyncio.Task[None]] = set()
        self._loop = asyncio.get_running_loop()
        limits, hosted = session.limits, running.call.task is not None
        # A call has its limits; a task of our own ends by its own.
        self._idle = A_DAY if hosted else limits.call
        self._until = self._loop.time() + (A_DAY if hosted else limits.longest)
        self._idle_until = self._loop.time() + self._idle
        self._pause = FIRST_LOOK
        self._answered = asyncio.Event()

    async def outcome(self) -> JsonObject:
        raise NotImplementedError

    async def _state(self) -> JsonObject:
        """After a while that grows to the pace it asks for, and begins anew after an answer."""
        await self._rest()
        params = {"taskId": self._task.id}
        state = await self._session.request_as(self.declares, "tasks/get", params)
        self._report(state)
        if self._loop.time() > min(self._until, self._idle_until) and not self.asking:
            self._session.send_off("tasks/cancel", {"taskId": self._task.id}, self.declares)
            raise TimedOut("did not finish its task in time")
        return state

    async def _rest(self) -> None:
        pause = min(self._pause, self._task.poll)
        self._pause = pause * 2
        with suppress(TimeoutError):
            async with asyncio.timeout(pause):
                await self._answered.wait()
                self._answered.clear()
                self._pause = FIRST_LOOK

    def _report(self, state: JsonObject) -> None:
        meta = state.get("_meta")
        progress = meta.get(PROGRESS) if isinstance(meta, dict) else None
        news = (state.get("status"), state.get("statusMessage"), progress)
        if news == self._message:
            return
        self._message = news
        self._idle_until = self._loop.time() + self._idle
        self._said += 1
        message = state.get("statusMessage")
        if isinstance(message, str) and message:
            numbers = progress if isinstance(progress, dict) else {"progress": self._said}
            self._running.progress({**numbers, "message": message})


class _Extension(_Drive):
    declares: ClassVar[JsonObject] = DECLARED

    def __init__(self, session: UpstreamSession, task: UpstreamTask, running: Running) -> None:
        super().__init__(session, task, running)
        self._presented: set[str] = set()
        self._refusal: ProtocolError | ToolError | None = None

    async def outcome(self) -> JsonObject:
        while True:
            state = await self._state()
            if self._refusal is not None:
                self._session.send_off("tasks/cancel", {"taskId": self._task.id}, DECLARED)
                raise self._refusal
            status = state.get("status")
            if status == COMPLETED and isinstance(state.get("result"), dict):
                return _without_related(state["result"])
            if status in (COMPLETED, FAILED):
                raise _error_in(state)
            if status == CANCELLED:
                raise ToolError("the server has cancelled the task")
            if status == INPUT_REQUIRED:
                self._ask(asked_by(state))

    def _ask(self, questions: dict[str, JsonObject]) -> None:
        """Each key once: an answer may take a while to show."""
        for key in questions.keys() - self._presented:
            self._presented.add(key)
            work = self._answer(key, questions[key])
            task = self._loop.create_task(work)
            self.asking.add(task)
            task.add_done_callback(self.asking.discard)

    async def _answer(self, key: str, question: JsonObject) -> None:
        try:
            answers = await self._running.channel.ask({key: question})
        except (ProtocolError, ToolError) as error:
            # The extension has no words for an error in place of an answer.
            if question["method"] != ELICIT:
                self._refusal = error
                return
            answers = {key: {"action": "cancel"}}
        params = {"taskId": self._task.id, "inputResponses": {key: answers[key]}}
        try:
            await self._session.request_as(DECLARED, "tasks/update", params)
            self._answered.set()
        except (ProtocolError, LinkError) as error:
            self._refusal = ToolError(f"the answer was not delivered: {error}")


class _Core(_Drive):
    async def outcome(self) -> JsonObject:
        params = {"taskId": self._task.id}
        leave = self._session.attend(self._running)
        asking = self._session.request("tasks/result", params, self._running, timeout=A_DAY)
        result = asyncio.ensure_future(asking)
        try:
            await self._watch(result)
            return _without_related(await result)
        finally:
            result.cancel()
            leave()

    async def _watch(self, result: asyncio.Future[JsonObject]) -> None:
        while not result.done():
            state = asyncio.ensure_future(self._state())
            await asyncio.wait((result, state), return_when=asyncio.FIRST_COMPLETED)
            if not state.done():
                state.cancel()
            elif not result.done():
                state.result()  # raises what it did


def _error_in(state: JsonObject) -> ProtocolError:
    error = state.get("error")
    error = error if isinstance(error, dict) else {}
    code, message = error.get("code"), error.get("message")
    return ProtocolError(
        code if type(code) is int else INTERNAL_ERROR,
        message if isinstance(message, str) else "The server's task failed without a reason",
        error.get("data"),
    )


def _without_related(result: JsonObject) -> JsonObject:
    """A task's name over there means nothing here."""
    meta = result.get("_meta")
    if not isinstance(meta, dict) or RELATED not in meta:
        return result
    other_meta = {key: value for key, value in meta.items() if key != RELATED}
    bare = {key: value for key, value in result.items() if key != "_meta"}
    return {**bare, "_meta": other_meta} if other_meta else bare
