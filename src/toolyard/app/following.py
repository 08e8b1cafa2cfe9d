"""A call that may become a task, followed to its end, for people who wait for its result."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from toolyard.errors import ProtocolError
from toolyard.protocol.call import Call, Channel, JsonObject, Result
from toolyard.protocol.client import TASKS_EXTENSION
from toolyard.protocol.tasks.words import (
    COMPLETED,
    FAILED,
    INPUT_REQUIRED,
    PROGRESS,
    TERMINAL,
    is_handle,
)
from toolyard.transports.answer import Edge, handle, in_rounds

LOOK_EVERY = 0.1


async def followed(edge: Edge, call: Call, channel: Channel) -> Result:
    """The result of a call, be it that of its task. Who stops waiting cancels it."""
    extensions = {**(call.client.capabilities.get("extensions") or {}), TASKS_EXTENSION: {}}
    capabilities = {**call.client.capabilities, "extensions": extensions}
    call = replace(call, client=call.client._replace(capabilities=capabilities))
    result = await in_rounds(edge, call, channel)
    if not isinstance(result, dict) or not is_handle(result):
        return result
    following = _Following(edge, call, channel, result["taskId"])
    try:
        return await following.outcome()
    except asyncio.CancelledError:
        await following.request("tasks/cancel")
        raise


class _Following:
    def __init__(self, edge: Edge, call: Call, channel: Channel, task_id: str) -> None:
        self._edge = edge
        self._call = replace(call, input_responses=None, request_state=None)
        self._channel = channel
        self._task = task_id
        self._message: object = None

    async def request(self, method: str, answers: JsonObject | None = None) -> JsonObject:
        call = replace(
            self._call, method=method, params={"taskId": self._task}, input_responses=answers
        )
        result = await handle(self._edge, call, self._channel)
        assert isinstance(result, dict)
        return result

    async def outcome(self) -> JsonObject:
        while True:
            task = await self.request("tasks/get")
            self._report(task)
            if task["status"] in TERMINAL:
                return _result_of(task)
            if task["status"] == INPUT_REQUIRED:
                answers = await self._channel.ask(task["inputRequests"])
                await self.request("tasks/update", answers)
            else:
                await asyncio.sleep(LOOK_EVERY)

    def _report(self, task: JsonObject) -> None:
        message = task.get("statusMessage")
        news = (message, task.get("_meta"))
        if message and news != self._message:
            numbers = (task.get("_meta") or {}).get(PROGRESS, {})
            self._channel.progress(numbers.get("progress", 0), numbers.get("total"), message)
        self._message = news


def _result_of(task: JsonObject) -> JsonObject:
    if task["status"] == COMPLETED:
        result: JsonObject = task["result"]
        return result
    if task["status"] == FAILED:
        error = task["error"]
        raise ProtocolError(error["code"], error["message"], error.get("data"))
    text = task.get("statusMessage") or "The task was cancelled"
    return {"content": [{"type": "text", "text": text}], "isError": True}
