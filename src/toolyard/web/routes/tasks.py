"""The API's routes for tasks: all of them, one with its log and result, and ending one."""

from __future__ import annotations

from toolyard.protocol.call import JsonObject
from toolyard.web.routes.request import ApiRefusal, Ask
from toolyard.web.views.privacy import without_secrets
from toolyard.web.window import Window


class TaskRoutes:
    """Tasks of all callers: the person at the page owns the server."""

    def __init__(self, window: Window) -> None:
        self._window = window

    async def show(self, ask: Ask) -> None:
        board = self._window.tasks
        if not ask.arguments:
            await ask.answer({"tasks": self._shown(await board.lines())})
            return
        task = await board.find(ask.arguments[0])
        if task is None:
            raise ApiRefusal(404, "this task is no longer kept")
        await ask.answer(self._shown(task))

    async def cancel(self, ask: Ask) -> None:
        if not ask.arguments or not await self._window.tasks.cancel(ask.arguments[0]):
            raise ApiRefusal(404, "this task is no longer kept")
        await ask.answer({})

    def _shown(self, value: JsonObject | list[JsonObject]) -> JsonObject | list[JsonObject]:
        shown: JsonObject = without_secrets(value, self._window.secrets(), frozenset())
        return shown
