"""The API's routes for calls from the page: start one, answer what it asks, cancel it."""

from __future__ import annotations

from toolyard.web.routes.request import SECURITY, ApiRefusal, Ask
from toolyard.web.stream import stream
from toolyard.web.trying.channel import WrongAnswers
from toolyard.web.trying.trials import METHODS, Trial, Trials
from toolyard.web.window import Window


class CallRoutes:
    """Calls from the page."""

    def __init__(self, window: Window) -> None:
        self._trials = Trials(window)

    async def start(self, ask: Ask) -> None:
        """Answer with the call's events; a browser that leaves cancels the call."""
        body = await ask.json()
        method, params = body.get("method"), body.get("params", {})
        if method not in METHODS or not isinstance(params, dict):
            raise ApiRefusal(400, "a call needs a method that the page may use, and params")
        trial = self._trials.start(method, params)
        try:
            await stream(trial.events, ask.request, ask.response, SECURITY)
        finally:
            trial.cancel()

    async def answers(self, ask: Ask) -> None:
        trial = self._trial(ask)
        try:
            was_asked = trial.channel.answer(await ask.json())
        except WrongAnswers as refused:
            message = f"the answer does not fit what was asked: {refused}"
            raise ApiRefusal(422, message, wrong=dict(refused.wrong)) from None
        if not was_asked:
            raise ApiRefusal(409, "the call is not asking anything")
        await ask.answer({})

    async def cancel(self, ask: Ask) -> None:
        self._trial(ask).cancel()
        await ask.answer({})

    def _trial(self, ask: Ask) -> Trial:
        trial = self._trials.find(ask.arguments[0]) if ask.arguments else None
        if trial is None:
            raise ApiRefusal(404, "no such call is running")
        return trial

    async def close(self) -> None:
        await self._trials.close()
