"""Channels in front of others, and those that go on when the request of their call is answered."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from toolyard.protocol.call import Channel, Json, JsonObject, Questions, Session


@runtime_checkable
class Outlasting(Protocol):
    """A channel that has somewhere to report to once the call is a task."""

    def of_task(self, task_id: str) -> Channel | None: ...


def of_task(channel: Channel, task_id: str) -> Channel | None:
    """How a call reports once it is a task and its request is answered; None: not at all."""
    return channel.of_task(task_id) if isinstance(channel, Outlasting) else None


class PassingChannel:
    """Passes everything on to the channel behind it."""

    __slots__ = ("channel",)

    def __init__(self, channel: Channel) -> None:
        self.channel = channel

    @property
    def session(self) -> Session | None:
        return self.channel.session

    def notify(self, method: str, params: JsonObject) -> None:
        self.channel.notify(method, params)

    def progress(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> None:
        self.channel.progress(progress, total, message)

    def log(self, level: str, data: Json, logger: str | None = None) -> None:
        self.channel.log(level, data, logger)

    async def ask(self, questions: Questions, timeout: float | None = None) -> JsonObject:
        return await self.channel.ask(questions, timeout)

    def close_stream(self) -> None:
        self.channel.close_stream()

    def of_task(self, task_id: str) -> Channel | None:
        return of_task(self.channel, task_id)
