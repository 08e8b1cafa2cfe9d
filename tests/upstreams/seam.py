"""The two sides of the seam, for tests: calls as a client would make them, and its channel."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from toolyard.protocol.call import Call, Caller, Client, Json, JsonObject, Questions
from toolyard.protocol.revisions import LATEST, LATEST_HANDSHAKE
from toolyard.upstreams.conversation.running import Limits
from toolyard.upstreams.definition import ServerDefinition
from toolyard.upstreams.pool import Pool
from toolyard.upstreams.setup import Setup

FAKE = str(Path(__file__).with_name("fake_stdio.py"))
QUICK = Limits(start=20.0, silence=0.3, call=20.0, probe=0.5)
EVERYTHING: JsonObject = {"elicitation": {}, "sampling": {}, "roots": {}}


class ClientSession:
    """A handshake-era client that stays connected."""

    def __init__(self, key: str = "s1") -> None:
        self._key = key
        self.notified: list[tuple[str, JsonObject]] = []
        self.asked: list[tuple[str, JsonObject]] = []
        self._on_close: list[Callable[[], None]] = []

    @property
    def key(self) -> str:
        return self._key

    def notify(self, method: str, params: JsonObject) -> None:
        self.notified.append((method, params))

    def log(self, level: str, data: Json, logger: str) -> None:
        self.notified.append(("notifications/message", {"level": level, "data": data}))

    async def ask(self, method: str, params: JsonObject, timeout: float) -> Json:
        self.asked.append((method, params))
        return {"roots": []}

    def on_close(self, callback: Callable[[], None]) -> None:
        self._on_close.append(callback)

    def close(self) -> None:
        for callback in self._on_close:
            callback()


class RecordingChannel:
    """Keeps what a call reported; answers its questions with `answer`."""

    def __init__(
        self,
        answer: Callable[[JsonObject], Awaitable[Json]] | None = None,
        session: ClientSession | None = None,
    ) -> None:
        self._answer = answer
        self._session = session
        self.notified: list[tuple[str, JsonObject]] = []
        self.logged: list[tuple[str, Json, str | None]] = []
        self.progressed: list[tuple[float, float | None, str | None]] = []
        self.asked: list[JsonObject] = []
        self.question = asyncio.Event()
        self.arrived = asyncio.Event()  # the first log message: the call is at work

    @property
    def session(self) -> ClientSession | None:
        return self._session

    def notify(self, method: str, params: JsonObject) -> None:
        self.notified.append((method, params))

    def progress(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> None:
        self.progressed.append((progress, total, message))

    def log(self, level: str, data: Json, logger: str | None = None) -> None:
        self.logged.append((level, data, logger))
        self.arrived.set()

    async def ask(self, questions: Questions, timeout: float | None = None) -> JsonObject:
        self.asked += questions.values()
        self.question.set()
        assert self._answer is not None
        return {key: await self._answer(question) for key, question in questions.items()}

    def close_stream(self) -> None:
        pass


def always(answer: JsonObject) -> Callable[[JsonObject], Awaitable[Json]]:
    async def give(question: JsonObject) -> Json:
        return answer

    return give


def modern_call(capabilities: JsonObject | None = None, **more: Any) -> Call:
    return Call("tools/call", {}, LATEST, Client({}, capabilities or {}), **more)


def session_call(capabilities: JsonObject | None = None, **more: Any) -> Call:
    return Call("tools/call", {}, LATEST_HANDSHAKE, Client({}, capabilities or {}), **more)


def fake(name: str = "fake", **options: Any) -> ServerDefinition:
    return ServerDefinition(name=name, command=sys.executable, args=(FAKE, json.dumps(options)))


def setup(**changes: Any) -> Setup:
    return Setup(**{"limits": QUICK, **changes})


async def call_tool(
    pool: Pool,
    tool: str,
    arguments: JsonObject | None = None,
    *,
    server: str = "fake",
    call: Call | None = None,
    channel: RecordingChannel | None = None,
) -> JsonObject:
    target = pool.targets.tool(server, tool)
    result = await target.call(
        arguments or {}, call or modern_call(), channel or RecordingChannel()
    )
    assert isinstance(result, dict)
    return result


def sent(log: Path) -> list[JsonObject]:
    """What the fake received, in order."""
    return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []


def methods_sent(log: Path) -> list[str]:
    return [message["method"] for message in sent(log) if "method" in message]


BOB = Caller(id="bob", name="Bob")
