"""A link to an upstream that is our child process: one JSON message a line."""

from __future__ import annotations

import re
from collections.abc import Awaitable
from typing import NoReturn

from toolyard.errors import ProtocolError
from toolyard.processes.lasting import EXIT_GRACE, Child, GroupGuard, Program
from toolyard.processes.pacing import Pace, units_of
from toolyard.protocol.call import JsonObject
from toolyard.protocol.codec import dumps, loads
from toolyard.protocol.verbatim import answer_in
from toolyard.telemetry import logger
from toolyard.upstreams.link.link import (
    MAX_MESSAGE,
    Link,
    LinkError,
    Lost,
    NotSent,
    Outgoing,
    Pending,
    messages_in,
)

log = logger("upstreams")
SHOWN_GARBAGE = 200
# The id of an answer that cannot be read, where it is sure to be the message's own.
_ID_FIRST = re.compile(rb'\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d{1,18})\s*,')
_ID_LAST = re.compile(rb',\s*"id"\s*:\s*(\d{1,18})\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$')


class StdioLink(Link):
    """A child process that reads its messages from stdin and writes its own to stdout."""

    transport = "stdio"

    def __init__(
        self, program: Program, pace: Pace, *, max_message: int = MAX_MESSAGE, guard: GroupGuard
    ) -> None:
        super().__init__(pace)
        self._program = program
        self._pending = Pending()
        self._garbage = 0
        self._child = Child(program, self._on_line, self._on_end, max_line=max_message, guard=guard)

    @property
    def pid(self) -> int | None:
        return self._child.pid

    async def _open(self) -> None:
        try:
            self._child.start()
        except (OSError, ValueError) as error:
            raise NotSent(_cannot_start(self._program, error)) from None

    def exchange(self, out: Outgoing) -> Awaitable[JsonObject]:
        message = out.encode()
        if self.lost is not None:
            raise NotSent(str(self.lost))
        answer = self._pending.add(out.id)
        if self._written(message):
            return answer
        self._pending.drop(out.id)
        return self._refuse()

    def forget(self, request_id: int) -> None:
        self._pending.drop(request_id)

    async def send(self, message: JsonObject, version: str | None) -> None:
        if not self._written(dumps(message)):
            await self._refuse()

    async def close(self) -> None:
        self._pending.fail(self.lost or Lost("was stopped"))
        await self._child.stop()

    def diagnosis(self) -> str:
        return self._child.tail

    def _written(self, message: bytes) -> bool:
        if self.lost is not None:
            raise NotSent(str(self.lost))
        try:
            self._child.write(message + b"\n")
        except BrokenPipeError:
            return False
        return True

    async def _refuse(self) -> NoReturn:
        # Most likely it has just ended: then the way it ended says more.
        await self._child.gone_within(EXIT_GRACE)
        raise NotSent(str(self.lost or "does not read its input"))

    def _on_line(self, line: bytes | bytearray) -> None:
        answer = answer_in(line)
        if answer is not None:
            if not self._pending.settle(answer):
                self._slow_down(len(line))
            return
        try:
            # A bytearray is as good here, and a copy of a long line is not.
            value = loads(line)  # type: ignore[arg-type]
        except ProtocolError:
            self._on_garbage(line)
            self._slow_down(len(line))
            return
        if isinstance(value, dict):
            if not self._on_message(value):
                self._slow_down(len(line))
            return
        messages = messages_in(value)
        for message in messages:
            self._on_message(message)
        self._slow_down(len(line), len(messages))

    def _on_message(self, message: JsonObject) -> bool:
        """Was it asked for?"""
        if "method" not in message:
            return self._pending.settle(message)
        self._hearer.receive(message, None)
        return False

    def _slow_down(self, size: int, messages: int = 0) -> None:
        seconds = self.pace.take(units_of(size) + messages)
        if seconds:
            self._child.hold("out", seconds)

    def _on_garbage(self, line: bytes | bytearray) -> None:
        if not line or line.isspace():
            return
        match = _ID_FIRST.match(line) or _ID_LAST.search(line, max(0, len(line) - SHOWN_GARBAGE))
        if match is not None:
            # Whoever waits for it would wait in vain.
            self._pending.break_off(int(match.group(1)), Lost("sent an answer that is not JSON"))
        self._garbage += 1
        if self._garbage == 1:
            excerpt = bytes(line[:SHOWN_GARBAGE]).decode("utf-8", "replace")
            log.warning("%s: its output is not all JSON, skipped: %s", self._program.name, excerpt)

    def _on_end(self, reason: str) -> None:
        error: LinkError = Lost(reason)
        self._pending.fail(error)
        self.lose(error)


def _cannot_start(program: Program, error: Exception) -> str:
    if isinstance(error, FileNotFoundError):
        if program.cwd is not None and error.filename == program.cwd:
            return f"cannot start: there is no folder {program.cwd}"
        return f"cannot start: no program named {program.name}"
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return f"cannot start {program.name}: {reason}"
