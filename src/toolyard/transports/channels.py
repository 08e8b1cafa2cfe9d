"""How a call talks back: on a live session, or parked until its client returns."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol, TypeAlias

from toolyard.errors import (
    INTERNAL_ERROR,
    MISSING_CAPABILITY,
    ProtocolError,
    ToolError,
    Unaskable,
)
from toolyard.protocol.asking.fitting import Fitted, fit_question
from toolyard.protocol.call import (
    LOG_LEVELS,
    Call,
    Client,
    Json,
    JsonObject,
    Questions,
    Session,
)
from toolyard.protocol.client import CAPABILITY, ELICIT, SAMPLE
from toolyard.protocol.eras.modern import MAY_ASK
from toolyard.protocol.jsonrpc import encode_notification
from toolyard.protocol.revisions import Revision
from toolyard.transports.asked import Asked, fitting_answer

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

    def notify(self, method: str, params: JsonObject) -> None:
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


class Conversation(Session, Protocol):
    """A session whose client can be spoken to while a call runs."""

    def wire(self, call: Call) -> Wire: ...

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

    def __init__(self, call: Call, session: Conversation) -> None:
        self._call = call
        self.session = session

    @cached_property
    def wire(self) -> Wire:
        return self.session.wire(self._call)

    def close_stream(self) -> None:
        self.wire.end()

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


def fit_all(questions: Questions, revision: Revision) -> dict[str, Fitted]:
    return {key: fit_question(question, revision, _new_id) for key, question in questions.items()}


def _new_id() -> str:
    return secrets.token_urlsafe(16)


def refuse_unaskable(questions: Questions, client: Client, revision: Revision) -> None:
    """Refuse what the client has not declared that it can be asked."""
    missing: JsonObject = {}
    for question in questions.values():
        method, params = question.get("method", ""), question.get("params") or {}
        mode = str(params.get("mode", "form"))
        if method not in CAPABILITY:
            raise ProtocolError(INTERNAL_ERROR, f"{method!r} is not a question for a client")
        in_revision = method != ELICIT or mode in revision.elicitation
        if not in_revision or not client.supports(method, mode):
            missing[CAPABILITY[method]] = {} if mode == "form" else {mode: {}}
        elif method == SAMPLE and params.get("tools"):
            able = client.capabilities[CAPABILITY[SAMPLE]]
            if not isinstance(able, dict) or "tools" not in able:
                missing[CAPABILITY[SAMPLE]] = {"tools": {}}
    if not missing:
        return
    names = ", ".join(missing)
    if not revision.modern:
        raise Unaskable(
            f"this call needs to ask its client ({names}), and the client cannot answer"
        )
    raise ProtocolError(
        MISSING_CAPABILITY,
        f"Server requires the {names} capability for this request",
        {"requiredCapabilities": missing},
    )


class ModernChannel(WiredChannel):
    """The channel of a modern call: a question ends the round and parks the call."""

    wire: Wire

    def __init__(self, call: Call, wire: Wire) -> None:
        self._call = call
        self.wire = wire
        self._open: Asked | None = None  # made at first use: most calls ask nothing
        self._next_question: asyncio.Future[None] | None = None
        self._answers: asyncio.Future[JsonObject] | None = None
        self._one_at_a_time: asyncio.Lock | None = None

    session = None

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
