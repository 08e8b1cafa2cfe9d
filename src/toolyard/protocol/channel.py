"""A channel in front of another: subclasses only say what they do differently."""

from __future__ import annotations

from toolyard.protocol.call import Channel, Json, JsonObject, Questions, Session


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
