"""The person at the terminal as the client of a call: progress, logs and questions on stderr."""

from __future__ import annotations

import asyncio
import sys

from toolyard.cli.client.forms import Left, fill_in
from toolyard.cli.terminal.waiting import CLEAR
from toolyard.errors import METHOD_NOT_FOUND, ProtocolError
from toolyard.protocol.call import LOG_LEVELS, Channel, Client, Json, JsonObject, Questions
from toolyard.protocol.client import ELICIT, ROOTS
from toolyard.telemetry import one_line

_BAR = 20


class TerminalChannel(Channel):
    """A call's channel to the person at the terminal, or to a log file where there is none."""

    def __init__(self, *, level: str = "info", chatty: bool = False) -> None:
        self._least = LOG_LEVELS.index(level)
        self._live = sys.stderr.isatty()
        self._chatty = chatty
        self._drawn = False
        self.interactive = self._live and sys.stdin.isatty()

    @property
    def client(self) -> Client:
        """What the person can be asked."""
        askable: JsonObject = {"elicitation": {"form": {}, "url": {}}} if self.interactive else {}
        return Client({"name": "toolyard run-tool", "version": "1"}, askable)

    def progress(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> None:
        line = progress_line(progress, total, message)
        if self._live:
            sys.stderr.write(CLEAR + line)
            sys.stderr.flush()
            self._drawn = True
        elif self._chatty:
            print(line, file=sys.stderr, flush=True)

    def log(self, level: str, data: Json, logger: str | None = None) -> None:
        if level in LOG_LEVELS and LOG_LEVELS.index(level) < self._least:
            return
        text = data if isinstance(data, str) else _message_in(data)
        self.say(f"{level}: {one_line(text)}")

    def say(self, text: str) -> None:
        self.clear()
        print(text, file=sys.stderr, flush=True)

    def clear(self) -> None:
        """Remove the progress line, so that what follows starts on a line of its own."""
        if self._drawn:
            sys.stderr.write(CLEAR)
            sys.stderr.flush()
            self._drawn = False

    async def ask(self, questions: Questions, timeout: float | None = None) -> JsonObject:
        return {key: await self._answer(question) for key, question in questions.items()}

    async def _answer(self, question: JsonObject) -> Json:
        method, params = question.get("method"), question.get("params") or {}
        if method == ROOTS:
            return {"roots": []}
        if method != ELICIT:
            raise ProtocolError(METHOD_NOT_FOUND, f"a terminal cannot answer {method}")
        if not self.interactive:
            return {"action": "decline"}
        self.say(one_line(str(params.get("message", ""))))
        try:
            return await self._elicit(params)
        except Left:
            self.say("")
            return {"action": "cancel"}

    async def _elicit(self, params: JsonObject) -> JsonObject:
        if params.get("mode") == "url":
            reply = await _line(f"  open {one_line(str(params.get('url')))} and then answer y/n: ")
            return {"action": "accept" if (reply or "").strip().lower() == "y" else "decline"}
        schema = params.get("requestedSchema") or {}
        return {"action": "accept", "content": await fill_in(schema, _line)}


def progress_line(progress: float, total: float | None, message: str | None) -> str:
    suffix = f" {one_line(message)}" if message else ""
    if not total or total <= 0:
        return f"{progress:g}{suffix}"
    share = min(max(progress / total, 0.0), 1.0)
    full = round(share * _BAR)
    return f"[{'#' * full}{'.' * (_BAR - full)}] {share:4.0%}{suffix}"


def _message_in(data: Json) -> str:
    if isinstance(data, dict) and isinstance(data.get("message"), str):
        return str(data["message"])
    return str(data)


async def _line(prompt: str) -> str | None:
    """Read one line from the terminal, without a thread that would outlive Ctrl-C."""
    sys.stderr.write(prompt)
    sys.stderr.flush()
    loop = asyncio.get_running_loop()
    readable = asyncio.Event()
    loop.add_reader(sys.stdin.fileno(), readable.set)
    try:
        await readable.wait()
    finally:
        loop.remove_reader(sys.stdin.fileno())
    return sys.stdin.readline() or None
