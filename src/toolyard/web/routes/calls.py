"""The API's routes for calls from the page: start one, answer what it asks, cancel it."""

from __future__ import annotations

from toolyard.web.routes.request import SECURITY, Ask, Refused
from toolyard.web.stream import stream
from toolyard.web.trying.channel import WrongAnswers
from toolyard.web.trying.runs import METHODS, Run, Runs
from toolyard.web.window import Window


class CallRoutes:
    def __init__(self, window: Window) -> None:
        self._runs = Runs(window)

    async def start(self, ask: Ask) -> None:
        """Answer with the call's events; a browser that leaves cancels the call."""
        body = await ask.json()
        method, params = body.get("method"), body.get("params", {})
        if method not in METHODS or not isinstance(params, dict):
            raise Refused(400, "a call needs a method that the page may use, and params")
        run = self._runs.start(method, params)
        try:
            await stream(run.events, ask.request, ask.response, SECURITY)
        finally:
            run.cancel()

    async def answers(self, ask: Ask) -> None:
        run = self._run(ask)
        try:
            was_asked = run.channel.answer(await ask.json())
        except WrongAnswers as refused:
            message = f"the answer does not fit what was asked: {refused}"
            raise Refused(422, message, wrong=dict(refused.wrong)) from None
        if not was_asked:
            raise Refused(409, "the call is not asking anything")
        await ask.answer({})

    async def cancel(self, ask: Ask) -> None:
        self._run(ask).cancel()
        await ask.answer({})

    def _run(self, ask: Ask) -> Run:
        run = self._runs.find(ask.arguments[0]) if ask.arguments else None
        if run is None:
            raise Refused(404, "no such call is running")
        return run

    async def close(self) -> None:
        await self._runs.close()
