"""An answer must fit its question: if it does not, the client is told why and asked again."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from toolyard.errors import ToolError
from toolyard.protocol.asking.answers import MOST_ASKS, asked_again, judged
from toolyard.protocol.call import Json, JsonObject, Questions
from toolyard.protocol.client import ELICIT
from toolyard.protocol.codec import dumps

# What a client may carry back and forth in `requestState`; whoever asks for more checks the
# answers itself.
MOST_REMEMBERED = 64 * 1024


async def fitting_answer(
    question: JsonObject, put: Callable[[JsonObject], Awaitable[Json]]
) -> Json:
    """`put` the question, again while the answer does not fit. Raises ToolError in the end."""
    current, wrong = question, None
    for _ in range(MOST_ASKS):
        answer, wrong = judged(question, await put(current))
        if wrong is None:
            return answer
        current = asked_again(question, wrong)
    raise unfit(wrong)


def unfit(wrong: str | None) -> ToolError:
    return ToolError(f"the client was asked {MOST_ASKS} times and its answer does not fit: {wrong}")


def remembered(questions: Questions) -> JsonObject:
    """The questions, if one is a form to check an answer by and they are small enough to carry."""
    if not any(map(_is_form, questions.values())) or len(dumps(questions)) > MOST_REMEMBERED:
        return {}
    return dict(questions)


def _is_form(question: JsonObject) -> bool:
    params = question.get("params")
    return (
        question.get("method") == ELICIT
        and isinstance(params, dict)
        and isinstance(params.get("requestedSchema"), dict)
    )


class Asked:
    """Open questions, and the answers so far that fit them."""

    def __init__(
        self, questions: Questions, fit: JsonObject | None = None, rounds: int = 0
    ) -> None:
        self.questions = questions
        self.fit: JsonObject = dict(fit or {})
        self.rounds = rounds  # in which an answer did not fit
        self._wrong: dict[str, str] = {}

    @property
    def current(self) -> Questions:
        """What the client is asked now: everything, or only what it answered wrongly."""
        if not self._wrong:
            return self.questions
        return {key: asked_again(self.questions[key], why) for key, why in self._wrong.items()}

    def take(self, answers: JsonObject) -> JsonObject | None:
        """All answers, once all fit; None while one does not. Raises ToolError in the end."""
        self._wrong = {}
        for key, answer in answers.items():
            answer, wrong = judged(self.questions[key], answer)
            if wrong is None:
                self.fit[key] = answer
            else:
                self._wrong[key] = wrong
        if not self._wrong:
            return self.fit
        self.rounds += 1
        if self.rounds >= MOST_ASKS:
            raise unfit("; ".join(self._wrong.values()))
        return None
