"""Channels to make others of: each says only what it does differently."""

from __future__ import annotations

from toolyard.errors import Unaskable
from toolyard.protocol.call import Channel, Json, JsonObject, Questions, Session


class QuietChannel:
    """Nobody listens, and nobody can be asked."""

    session: Session | None = None

    def notify(self, method: str, params: JsonObject) -> None:
        """Dropped."""

    def progress(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> None:
        """Dropped."""

    def log(self, level: str, data: Json, logger: str | None = None) -> None:
        """Dropped."""

    async def ask(self, questions: Questions, timeout: float | None = None) -> JsonObject:
        raise Unaskable("there is nobody who could be asked")

    def close_stream(self) -> None:
        """There is no stream to come back to."""


class PassingChannel:
    """Passes everything on to the channel that it stands before."""

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
