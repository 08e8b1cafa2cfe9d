"""The targets that laying a registry over needs beside those of virtual tools."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from toolyard.errors import ToolError, UpstreamError
from toolyard.protocol.call import Call, Channel, Json, JsonObject, Result, Target
from toolyard.virtual.composing.compose import Job, Terms


@dataclass(frozen=True, slots=True)
class Unavailable:
    """Says why there is nothing to call."""

    reason: str

    async def call(self, arguments: JsonObject, call: Call, channel: Channel) -> Result:
        raise ToolError(self.reason)


@dataclass(frozen=True, slots=True)
class Timed:
    """Gives up on its source after some seconds, and names the server that is behind it."""

    source: Target
    seconds: float
    server: str | None = None

    async def call(self, arguments: JsonObject, call: Call, channel: Channel) -> Result:
        if call.task is not None:  # which has a limit of its own
            return await self.source.call(arguments, call, channel)
        try:
            async with asyncio.timeout(self.seconds) as limit:
                return await self.source.call(arguments, call, channel)
        except TimeoutError:
            if not limit.expired():
                raise
            raise self._too_late() from None

    def _too_late(self) -> ToolError:
        message = f"no answer within {self.seconds:g} seconds"
        return ToolError(message) if self.server is None else UpstreamError(self.server, message)


@dataclass(frozen=True, slots=True)
class RenamedReference:
    """Completes for a prompt that its server knows by another name."""

    source: Target
    name: str

    async def call(self, arguments: JsonObject, call: Call, channel: Channel) -> Result:
        ref = {**arguments.get("ref", {}), "name": self.name}
        return await self.source.call({**arguments, "ref": ref}, call, channel)


async def gather(jobs: Sequence[Job], terms: Terms) -> list[Json | ToolError]:
    """Runs the jobs of a composed tool: a few at once, none left behind."""
    free = asyncio.Semaphore(terms.at_once)

    async def run(job: Job) -> Json | ToolError:
        async with free:
            try:
                async with asyncio.timeout(terms.timeout) as limit:
                    return await job()
            except TimeoutError:
                if not limit.expired():
                    raise
                return _failed(ToolError(f"no answer within {terms.timeout:g} seconds"), terms)
            except ToolError as error:
                return _failed(error, terms)

    try:
        async with asyncio.TaskGroup() as tasks:
            running = [tasks.create_task(run(job)) for job in jobs]
            await _all_of(running)
    except BaseExceptionGroup as errors:
        raise _first(errors) from None
    return [task.result() for task in running]


async def _all_of(running: list[asyncio.Task[Json | ToolError]]) -> None:
    """Waits until they are done; cancelling this cancels each of them, for the same reason."""
    try:
        if running:
            await asyncio.wait(running)
    except asyncio.CancelledError as cancelled:
        for task in running:
            task.cancel(*cancelled.args)
        raise


def _failed(error: ToolError, terms: Terms) -> ToolError:
    if terms.fail_fast:
        raise error
    return error


def _first(errors: BaseExceptionGroup[BaseException]) -> BaseException:
    error = errors.exceptions[0]
    return _first(error) if isinstance(error, BaseExceptionGroup) else error
