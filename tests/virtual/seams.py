"""Stand-ins at the seam: a Target that answers from a value, a Channel that keeps what it hears."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from toolyard.protocol.call import Call, Channel, JsonObject, Questions, Result, Session
from toolyard.protocol.revisions import LATEST

CALL = Call("tools/call", {}, LATEST)


class Answers:
    """A Target: answers with a result, or with what a function makes of the arguments."""

    def __init__(self, answer: Result | Callable[[JsonObject], Result]) -> None:
        self.answer = answer
        self.heard: list[JsonObject] = []

    async def call(self, arguments: JsonObject, call: Call, channel: Channel) -> Result:
        self.heard.append(arguments)
        return self.answer(arguments) if callable(self.answer) else self.answer


class Keeps:
    """A Channel without a client: keeps progress and logs, cannot ask."""

    def __init__(self) -> None:
        self.reported: list[tuple[float, float | None, str | None]] = []

    @property
    def session(self) -> Session | None:
        return None

    def notify(self, method: str, params: JsonObject) -> None:
        pass

    def progress(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> None:
        self.reported.append((progress, total, message))

    def log(self, level: str, data: Any, logger: str | None = None) -> None:
        pass

    async def ask(self, questions: Questions, timeout: float | None = None) -> JsonObject:
        raise AssertionError("nobody to ask")

    def close_stream(self) -> None:
        pass


def text(value: str) -> JsonObject:
    return {"content": [{"type": "text", "text": value}]}
