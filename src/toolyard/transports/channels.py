"""How a call talks back: on a live session, or parked until its client returns."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol, TypeAlias

from toolyard.errors import ToolError, Unaskable
from toolyard.protocol.asking.asked import Asked, fitting_answer
from toolyard.protocol.asking.fitting import Fitted
from toolyard.protocol.asking.putting import fit_all, refuse_unaskable
from toolyard.protocol.call import (
    LOG_LEVELS,
    Call,
    Channel,
    Json,
    JsonObject,
    Questions,
    Session,
)
from toolyard.protocol.eras.modern import MAY_ASK
from toolyard.protocol.jsonrpc import encode_notification
from toolyard.protocol.revisions import Revision
from toolyard.protocol.tasks.words import related

Send: TypeAlias = Callable[[bytes], None]
_RANK = {level: rank for rank, level in enumerate(LOG_LEVELS)}


@dataclass(slots=True)
class Wire:
    """Where the notifications of one call go, and what its client wants to hear."""

    send: Send
    revision: Revision
    token: Json = None
    # None: this client wants no log messages for this call.
    level: Callable[[], str | None] = lambda: None
    end: Callable[[], None] = lambda: None
    # What everything that is said here carries in its `_meta`.
    meta: JsonObject | None = None

    def notify(self, method: str, params: JsonObject) -> None:
        if self.meta is not None:
            params = {**params, "_meta": {**params.get("_meta", {}), **self.meta}}
        if self.revision.may_hear(method):
            self.send(encode_notification(method, params))

    def muted(self) -> Wire:
        """A copy that says nothing."""
        return replace(self, send=lambda message: None)

    def progress(self, progress: float, total: float | None, message: str | None) -> None:
        if self.token is None:
            return
        params: JsonObject = {"progressToken": self.token, "progress": progress}
        if total is not None:
            params["total"] = total
        if message is not None and self.revision.progress_message:
            params["message"] = message
        self.notify("notifications/progress", params)

    def log(self, level: str, data: Json, logger: str | None) -> None:
        threshold = self.level()
        if threshold is None or _RANK.get(level, 1) < _RANK[threshold]:
            return
        params: JsonObject = {"level": level, "data": data}
        if logger is not None:
            params["logger"] = logger
        self.notify("notifications/message", params)


def modern_wire(call: Call, send: Send) -> Wire:
    """What a modern request wants to hear, it says itself."""
    return Wire(send, call.revision, call.meta.get("progressToken"), lambda: call.log_level)


class Conversation(Session, Protocol):
    """A session whose client can be spoken to while a call runs."""

    def wire(self, call: Call) -> Wire: ...

    def send(self, message: bytes) -> None:
        """Something that belongs to no request; nothing, once the session is over."""

    async def request(
        self, method: str, params: JsonObject | None, related: str | int | None, timeout: float
    ) -> Json: ...


class WiredChannel:
    """What a call says goes out on a wire; how it asks depends on the era."""

    @cached_property
    def wire(self) -> Wire:
        """Made at first use: most calls say nothing before their answer."""
        raise NotImplementedError

    def notify(self, method: str, params: JsonObject) -> None:
        self.wire.notify(method, params)

    def progress(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> None:
        self.wire.progress(progress, total, message)

    def log(self, level: str, data: Json, logger: str | None = None) -> None:
        self.wire.log(level, data, logger)


class SessionChannel(WiredChannel):
    """The channel of a call on a handshake session: questions are requests to its client."""

    def __init__(self, call: Call, session: Conversation, wire: Wire | None = None) -> None:
        self._call = call
        self.session = session
        if wire is not None:
            self.wire = wire

    @cached_property
    def wire(self) -> Wire:
        return self.session.wire(self._call)

    def close_stream(self) -> None:
        self.wire.end()

    def of_task(self, task_id: str) -> Channel:
        """What belongs to no request goes out on the session, for as long as there is one."""
        session = self.session
        wire = replace(self.wire, send=session.send, end=lambda: None, meta=related(task_id))
        return SessionChannel(self._call, session, wire)

    async def ask(self, questions: Questions, timeout: float | None = None) -> JsonObject:
        refuse_unaskable(questions, self._call.client, self._call.revision)
        renditions = fit_all(questions, self._call.revision)
        puts = (
            self._put(question, renditions[key], timeout or 600)
            for key, question in questions.items()
        )
        return dict(zip(questions, await asyncio.gather(*puts), strict=True))

    async def _put(self, question: JsonObject, rendition: Fitted, timeout: float) -> Json:
        async def put(current: JsonObject) -> Json:
            params = rendition.params if current is question else rendition.saying(current)
            try:
                answer = await self.session.request(
                    rendition.method, params, self._call.id, timeout
                )
            except TimeoutError:
                raise ToolError(f"the client did not answer {rendition.method} in time") from None
            return rendition.answer(answer)

        return await fitting_answer(question, put)


class ModernChannel(WiredChannel):
    """The channel of a modern call: a question ends the round and parks the call."""

    def __init__(self, call: Call, send: Send) -> None:
        self._call = call
        self._send = send
        self._open: Asked | None = None  # made at first use: most calls ask nothing
        self._next_question: asyncio.Future[None] | None = None
        self._answers: asyncio.Future[JsonObject] | None = None
        self._one_at_a_time: asyncio.Lock | None = None

    session = None

    @cached_property
    def wire(self) -> Wire:
        return modern_wire(self._call, self._send)

    def close_stream(self) -> None:
        """A modern stream is the call itself: there is nothing to come back to."""

    async def ask(self, questions: Questions, timeout: float | None = None) -> JsonObject:
        if not questions:
            return {}  # no client would come back with nothing
        revision = self._call.revision
        if self._call.method not in MAY_ASK:
            raise Unaskable(f"a client of {revision} cannot be asked during {self._call.method}")
        refuse_unaskable(questions, self._call.client, revision)
        self._one_at_a_time = self._one_at_a_time or asyncio.Lock()
        async with self._one_at_a_time:
            renditions = fit_all(questions, revision)
            self._open = Asked(
                {key: rendition.as_question() for key, rendition in renditions.items()}
            )
            answers: asyncio.Future[JsonObject] = asyncio.get_running_loop().create_future()
            self._answers = answers
            self._wake()
            try:
                async with asyncio.timeout(timeout or 600):
                    return await answers
            except TimeoutError:
                raise ToolError("the client did not come back with an answer in time") from None
            finally:
                self._answers = None

    @property
    def questions(self) -> Questions:
        return self._open.current if self._open is not None else {}

    def next_question(self) -> asyncio.Future[None]:
        """Done when the call asks something."""
        if self._next_question is None or self._next_question.done():
            self._next_question = asyncio.get_running_loop().create_future()
        if self._answers is not None:
            self._next_question.set_result(None)
        return self._next_question

    def _wake(self) -> None:
        if self._next_question is not None and not self._next_question.done():
            self._next_question.set_result(None)

    @property
    def is_asking(self) -> bool:
        return self._answers is not None

    def answer(self, answers: JsonObject) -> bool:
        """False if an answer does not fit: `questions` then say what is wrong."""
        future = self._answers
        if future is None or future.done() or self._open is None:
            return True  # nobody is waiting for them any more
        try:
            fit_answers = self._open.take(answers)
        except ToolError as error:
            self._answers = None
            future.set_exception(error)
            return True
        if fit_answers is None:
            return False
        self._answers = None
        future.set_result(fit_answers)
        return True
