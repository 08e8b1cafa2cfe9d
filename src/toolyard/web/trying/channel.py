"""How a call that the page started talks back: by events, and by questions to the viewer."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from toolyard.errors import ToolError
from toolyard.protocol.asking.answers import judged
from toolyard.protocol.call import Channel, Json, JsonObject, Questions
from toolyard.web.stream import Events

PATIENCE = 600.0


class WrongAnswers(Exception):
    """What is wrong with each answer that does not fit its question."""

    def __init__(self, wrong: Mapping[str, str]) -> None:
        super().__init__("; ".join(wrong.values()))
        self.wrong = wrong


class PageChannel(Channel):
    """A call's channel to the page: everything it says becomes an event."""

    def __init__(self, events: Events) -> None:
        self._events = events
        self._answers: asyncio.Future[JsonObject] | None = None
        self._questions: Questions = {}
        self._one_at_a_time = asyncio.Lock()

    def notify(self, method: str, params: JsonObject) -> None:
        self._events.push("notification", {"method": method, "params": params})

    def progress(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> None:
        report = {"progress": progress, "total": total, "message": message}
        self._events.push("progress", report)

    def log(self, level: str, data: Json, logger: str | None = None) -> None:
        self._events.push("log", {"level": level, "data": data, "logger": logger})

    async def ask(self, questions: Questions, timeout: float | None = None) -> JsonObject:
        async with self._one_at_a_time:
            self._answers = asyncio.get_running_loop().create_future()
            self._questions = questions
            self._events.push("questions", dict(questions))
            try:
                async with asyncio.timeout(timeout or PATIENCE):
                    return await self._answers
            except TimeoutError:
                raise ToolError("nobody answered the question in the page in time") from None
            finally:
                if not self._answers.done() or self._answers.cancelled():
                    self._events.push("questions", {})  # nobody needs an answer any more
                self._answers = None

    def answer(self, answers: JsonObject) -> bool:
        """False where nothing was asked. Where it raises WrongAnswers, the call goes on waiting."""
        if self._answers is None or self._answers.done():
            return False
        verdicts = {
            key: judged(question, answers.get(key)) for key, question in self._questions.items()
        }
        wrong = {
            key: verdict.wrong for key, verdict in verdicts.items() if verdict.wrong is not None
        }
        if wrong:
            raise WrongAnswers(wrong)
        self._answers.set_result({key: verdict.answer for key, verdict in verdicts.items()})
        return True
