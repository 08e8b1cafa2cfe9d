"""The open questions of one task: several at once, each under a key that is never used again.

A client of the extension reads them with `tasks/get` and answers some or all with
`tasks/update`: what is answered is gone at once, and an answer that does not fit is asked for
again, under a new key. A client of the core form is asked by requests; whoever sends those claims
the question for as long as the request is open.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from toolyard.errors import INVALID_PARAMS, ProtocolError, ToolError
from toolyard.protocol.asking.answers import MOST_ASKS, asked_again, judged
from toolyard.protocol.asking.asked import unfit
from toolyard.protocol.asking.fitting import Fitted
from toolyard.protocol.asking.putting import fit_all, refuse_unaskable
from toolyard.protocol.call import Call, Json, JsonObject, Questions


@dataclass(slots=True)
class OpenQuestion:
    name: str  # as whoever asks knows it
    key: str  # as the client knows it
    question: JsonObject  # as it was asked
    rendition: Fitted  # as the client's revision expresses it
    answer: asyncio.Future[Json]
    shown: JsonObject = field(default_factory=dict)
    asked: int = 1
    claimed: bool = False


class TaskQuestions:
    """What one task waits for. `changed` is called whenever that is something else.

    `suffix` tells the keys of a process from those that an earlier one has used.
    """

    def __init__(self, call: Call, changed: Callable[[], None], suffix: str = "") -> None:
        self._call = call
        self._changed = changed
        self._suffix = suffix
        self._open: dict[str, OpenQuestion] = {}
        self._used: set[str] = set()

    @property
    def shown(self) -> JsonObject:
        return {key: entry.shown for key, entry in self._open.items()}

    def unclaimed(self) -> list[OpenQuestion]:
        return [entry for entry in self._open.values() if not entry.claimed]

    async def ask(self, questions: Questions, seconds: float) -> JsonObject:
        """The answers, once all are there. Raises as Channel.ask does."""
        refuse_unaskable(questions, self._call.client, self._call.revision)
        renditions = fit_all(questions, self._call.revision)
        entries = {key: self._add(key, questions[key], renditions[key]) for key in questions}
        self._changed()
        try:
            async with asyncio.timeout(seconds):
                return {key: await entry.answer for key, entry in entries.items()}
        except TimeoutError:
            raise ToolError("the client did not answer the task's question in time") from None
        finally:
            for entry in entries.values():
                self._open.pop(entry.key, None)
                entry.answer.cancel()
            self._changed()

    def _add(self, key: str, question: JsonObject, rendition: Fitted) -> OpenQuestion:
        answer: asyncio.Future[Json] = asyncio.get_running_loop().create_future()
        entry = OpenQuestion(key, self._fresh(key), question, rendition, answer)
        entry.shown = rendition.as_question()
        self._open[entry.key] = entry
        return entry

    def _fresh(self, key: str) -> str:
        name, number = f"{key}{self._suffix}", 1
        while name in self._used:
            number += 1
            name = f"{key}-{number}{self._suffix}"
        self._used.add(name)
        return name

    def answer(self, answers: JsonObject) -> None:
        """Take what answers an open question; the rest is old, or was never asked."""
        own = {key: answers[key] for key in answers if key in self._open}
        if not all(isinstance(answer, dict) for answer in own.values()):
            raise ProtocolError(INVALID_PARAMS, "inputResponses must be objects")
        for key, answer in own.items():
            self._judge(self._open.pop(key), answer)
        if own:
            self._changed()

    def _judge(self, entry: OpenQuestion, answer: JsonObject) -> None:
        fit, wrong = judged(entry.shown, answer)
        if wrong is None:
            self.settle(entry, entry.rendition.answer(fit))
        elif entry.asked >= MOST_ASKS:
            self.refuse(entry, unfit(wrong))
        else:
            entry.asked += 1
            entry.key = self._fresh(entry.name)
            entry.shown = asked_again(entry.rendition.as_question(), wrong)
            self._open[entry.key] = entry

    def decline(self, key: str, error: Exception) -> None:
        """Somebody was asked, and gave no answer."""
        entry = self._open.get(key)
        if entry is not None:
            self.refuse(entry, error)

    def settle(self, entry: OpenQuestion, answer: Json) -> None:
        if not entry.answer.done():
            entry.answer.set_result(answer)

    def refuse(self, entry: OpenQuestion, error: Exception) -> None:
        if not entry.answer.done():
            entry.answer.set_exception(error)
