"""Questions that a running script puts to its client, through pairs of files.

The script renames KIND.request into its exchange folder and waits for KIND.response.
Knows files and the Channel; what stands still meanwhile is the business of its `Hold`.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from typing import NamedTuple, Protocol

import orjson

from toolyard import telemetry
from toolyard.errors import INTERNAL_ERROR, MISSING_CAPABILITY, ProtocolError, ToolError, Unaskable
from toolyard.protocol.call import Call, Channel, Json, JsonObject
from toolyard.protocol.client import ELICIT, ROOTS, SAMPLE
from toolyard.scripts.contract.environ import compact
from toolyard.scripts.contract.exchange import ExchangeFolder

log = telemetry.logger("runners")
MAX_REQUEST = 4 * 1024 * 1024
# A request that is not renamed into place may be seen half written: look again so often.
HALF_WRITTEN_LOOKS = 40
ON_A_SESSION, PARKED = 30.0, 600.0


class Hold(Protocol):
    """What a call lays down while a question is open: its slot and its clock."""

    def lay_down(self) -> None: ...

    async def take_up(self) -> None: ...


class QuestionKind(NamedTuple):
    name: str
    method: str
    params: Callable[[JsonObject], JsonObject]
    failed: Callable[[int, str], Json]
    needs_body: bool = True


def elicitation(request: JsonObject) -> JsonObject:
    common = {"mode": str(request.get("mode", "form")), "message": str(request.get("message", ""))}
    if common["mode"] == "url":
        known = request.get("elicitationId") or os.urandom(16).hex()
        return {**common, "url": request.get("url"), "elicitationId": known}
    schema = request.get("schema", request.get("requestedSchema"))
    return {**common, "requestedSchema": schema or {"type": "object", "properties": {}}}


def declined(code: int, message: str) -> Json:
    return {"action": "decline" if code == MISSING_CAPABILITY else "cancel"}


def error(code: int, message: str) -> Json:
    return {"error": {"code": code, "message": message}}


KINDS = (
    QuestionKind("elicit", ELICIT, elicitation, declined),
    QuestionKind("sample", SAMPLE, lambda request: request, error),
    QuestionKind("roots", ROOTS, lambda request: {}, error, needs_body=False),
)
NO_ANSWER = -32000


class Questions:
    """The open and coming questions of one call."""

    __slots__ = ("_call", "_channel", "_exchange", "_hold", "_looks", "_tasks", "_timeout")

    def __init__(
        self,
        exchange: ExchangeFolder,
        call: Call,
        channel: Channel,
        hold: Hold,
        timeout: float | None,
    ) -> None:
        self._exchange = exchange
        self._call = call
        self._channel = channel
        self._hold = hold
        self._timeout = timeout or (PARKED if call.revision.modern else ON_A_SESSION)
        self._looks = 0
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def look(self, now_ns: int) -> None:
        """Called every few hundredths of a second; one `stat` where nothing happened."""
        if not self._looks and not self._exchange.may_have_asked(now_ns):
            return
        for kind in KINDS:
            if kind.name not in self._tasks:
                self._look_for(kind)

    def close(self) -> None:
        for task in self._tasks.values():
            task.cancel()

    def _look_for(self, kind: QuestionKind) -> None:
        raw = self._exchange.read(f"{kind.name}.request", MAX_REQUEST)
        if raw is None:
            return
        request = parsed(raw)
        if request is None and kind.needs_body and self._looks < HALF_WRITTEN_LOOKS:
            self._looks += 1
            return
        self._looks = 0
        self._exchange.remove(f"{kind.name}.response")
        self._exchange.remove(f"{kind.name}.request")
        task = asyncio.get_running_loop().create_task(self._answer(kind, request))
        self._tasks[kind.name] = task
        task.add_done_callback(lambda _: self._tasks.pop(kind.name, None))

    async def _answer(self, kind: QuestionKind, request: JsonObject | None) -> None:
        self._hold.lay_down()
        try:
            answer = await self._ask(kind, request)
        except Exception:  # nobody above would catch it, and the script would wait for ever
            log.exception("the question %s could not be asked", kind.method)
            answer = kind.failed(INTERNAL_ERROR, "the question could not be asked")
        await self._hold.take_up()
        try:
            self._exchange.write(f"{kind.name}.response", compact(answer))
        except OSError:  # the script took its folder away
            pass

    async def _ask(self, kind: QuestionKind, request: JsonObject | None) -> Json:
        if request is None and kind.needs_body:
            return kind.failed(NO_ANSWER, f"the {kind.name} request is not a JSON object")
        params = kind.params(request or {})
        if not self._can_ask(kind, params):
            return kind.failed(MISSING_CAPABILITY, f"the client does not support {kind.method}")
        question = {kind.name: {"method": kind.method, "params": params}}
        try:
            answers = await self._channel.ask(question, self._timeout)
        except ProtocolError as refused:
            return kind.failed(refused.code, refused.message)
        except Unaskable as refused:
            self._channel.log("warning", refused.message)
            return kind.failed(MISSING_CAPABILITY, refused.message)
        except ToolError as unanswered:
            return kind.failed(NO_ANSWER, unanswered.message)
        return answers[kind.name]

    def _can_ask(self, kind: QuestionKind, params: JsonObject) -> bool:
        if kind.method != ELICIT:
            return self._call.client.supports(kind.method)
        return params["mode"] in self._call.client.modes_in(self._call.revision)


def parsed(raw: bytes) -> JsonObject | None:
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError:
        return None
    return value if isinstance(value, dict) else None
