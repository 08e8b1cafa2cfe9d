"""How a call talks back: on a live session, or parked until its client returns."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol, TypeAlias

from toolyard.errors import (
    INTERNAL_ERROR,
    MISSING_CAPABILITY,
    ProtocolError,
    ToolError,
    Unaskable,
)
from toolyard.protocol.call import (
    LOG_LEVELS,
    Call,
    Client,
    Json,
    JsonObject,
    Questions,
    Session,
)
from toolyard.protocol.forms import PlainForm, plain_form
from toolyard.protocol.jsonrpc import encode_notification
from toolyard.protocol.revisions import Revision
from toolyard.transports.fitting import Asked, fitting_answer

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
        self.send(encode_notification(method, params))

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
        wanted = self.level()
        if wanted is None or _RANK.get(level, 1) < _RANK[wanted]:
            return
        params: JsonObject = {"level": level, "data": data}
        if logger is not None:
            params["logger"] = logger
        self.notify("notifications/message", params)


class Conversation(Session, Protocol):
    """A session that can be spoken to in the course of a call."""

    def wire(self, call: Call) -> Wire: ...

    async def request(
        self, method: str, params: JsonObject | None, related: str | int | None, timeout: float
    ) -> Json: ...


class SessionChannel:
    """The channel of a call on a handshake session: questions are requests to its client."""

    def __init__(self, call: Call, session: Conversation) -> None:
        self._call = call
        self.session = session

    @cached_property
    def _wire(self) -> Wire:
        """Made when it is needed: most calls say nothing before their answer."""
        return self.session.wire(self._call)

    def notify(self, method: str, params: JsonObject) -> None:
        self._wire.notify(method, params)

    def progress(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> None:
        self._wire.progress(progress, total, message)

    def log(self, level: str, data: Json, logger: str | None = None) -> None:
        self._wire.log(level, data, logger)

    def close_stream(self) -> None:
        self._wire.end()

    async def ask(self, questions: Questions, timeout: float | None = None) -> JsonObject:
        refuse_unaskable(questions, self._call.client, self._call.revision)
        fitted = [_fitted(question, self._call.revision) for question in questions.values()]
        pairs = zip(questions.values(), fitted, strict=True)
        answers = await asyncio.gather(*(self._put(*pair, timeout or 600) for pair in pairs))
        return dict(zip(questions, answers, strict=True))

    async def _put(self, question: JsonObject, fitted: _Fitted, timeout: float) -> Json:
        async def put(shown: JsonObject) -> Json:
            method, params, form = fitted
            if shown is not question:
                params = {**(params or {}), "message": shown["params"]["message"]}
            try:
                answer = await self.session.request(method, params, self._call.id, timeout)
            except TimeoutError:
                raise ToolError(f"the client did not answer {method} in time") from None
            return answer if form is None else form.answer(answer)

        return await fitting_answer(question, put)


class _Fitted(NamedTuple):
    """A question in the words of a client's revision."""

    method: str
    params: JsonObject | None
    form: PlainForm | None = None


def _fitted(question: JsonObject, revision: Revision) -> _Fitted:
    method, params = question["method"], question.get("params")
    if method != "elicitation/create" or not params or not revision.plain_forms:
        return _Fitted(method, params)
    # With one way to elicit, there is no word for it.
    params = {key: value for key, value in params.items() if key != "mode"}
    if not isinstance(params.get("requestedSchema"), dict):
        return _Fitted(method, params)
    form = plain_form(params["requestedSchema"])
    return _Fitted(method, {**params, "requestedSchema": form.schema}, form)


_CAPABILITY: Mapping[str, str] = {
    "elicitation/create": "elicitation",
    "sampling/createMessage": "sampling",
    "roots/list": "roots",
}


def refuse_unaskable(questions: Questions, client: Client, revision: Revision) -> None:
    """Only what the client declared may be asked."""
    missing: JsonObject = {}
    for question in questions.values():
        method, params = question.get("method", ""), question.get("params") or {}
        mode = params.get("mode", "form")
        if method not in _CAPABILITY:
            raise ProtocolError(INTERNAL_ERROR, f"{method!r} is no question for a client")
        known = method != "elicitation/create" or mode in revision.elicitation
        if not known or not client.supports(method, mode):
            missing[_CAPABILITY[method]] = {} if mode == "form" else {mode: {}}
    if not missing:
        return
    names = ", ".join(missing)
    if not revision.modern:
        raise Unaskable(f"this call needs to ask its client ({names}), which it cannot answer")
    raise ProtocolError(
        MISSING_CAPABILITY,
        f"Server requires the {names} capability for this request",
        {"requiredCapabilities": missing},
    )


class ModernChannel:
    """The channel of a modern call: a question ends the round and parks the call."""

    def __init__(self, call: Call, wire: Wire) -> None:
        self._call = call
        self.wire = wire
        self._open: Asked | None = None  # made when it is needed: most calls ask nothing
        self._asked: asyncio.Future[None] | None = None
        self._answers: asyncio.Future[JsonObject] | None = None
        self._one_at_a_time: asyncio.Lock | None = None

    session = None

    def notify(self, method: str, params: JsonObject) -> None:
        self.wire.notify(method, params)

    def progress(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> None:
        self.wire.progress(progress, total, message)

    def log(self, level: str, data: Json, logger: str | None = None) -> None:
        self.wire.log(level, data, logger)

    def close_stream(self) -> None:
        """A modern stream is the call itself: there is nothing to come back to."""

    async def ask(self, questions: Questions, timeout: float | None = None) -> JsonObject:
        refuse_unaskable(questions, self._call.client, self._call.revision)
        self._one_at_a_time = self._one_at_a_time or asyncio.Lock()
        async with self._one_at_a_time:
            self._open = Asked(dict(questions))
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
        return self._open.shown if self._open is not None else {}

    def asked(self) -> asyncio.Future[None]:
        """Done when the call asks something."""
        if self._asked is None or self._asked.done():
            self._asked = asyncio.get_running_loop().create_future()
        if self._answers is not None:
            self._asked.set_result(None)
        return self._asked

    def _wake(self) -> None:
        if self._asked is not None and not self._asked.done():
            self._asked.set_result(None)

    @property
    def waiting(self) -> bool:
        return self._answers is not None

    def answer(self, answers: JsonObject) -> bool:
        """False where one does not fit: the questions then say what is wrong."""
        waiting = self._answers
        if waiting is None or waiting.done() or self._open is None:
            return True  # nobody waits for them any more
        try:
            fitting = self._open.take(answers)
        except ToolError as error:
            self._answers = None
            waiting.set_exception(error)
            return True
        if fitting is None:
            return False
        self._answers = None
        waiting.set_result(fitting)
        return True
