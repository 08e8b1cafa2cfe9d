"""The API's routes for tasks: all of them, one with its log and result, and ending one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from toolyard.telemetry import logger
from toolyard.web.routes.request import ApiRefusal, Ask
from toolyard.web.views.privacy import without_secrets
from toolyard.web.window import Window

log = logger("page")
AWAY = "what is kept of tasks cannot be reached at the moment; they go on, look again later"


class TaskRoutes:
    """Tasks of all callers: the person at the page owns the server."""

    def __init__(self, window: Window) -> None:
        self._window = window

    async def show(self, ask: Ask) -> None:
        board, names = self._window.tasks, ask.arguments
        with _reaching():
            shown = await board.find(names[0]) if names else {"tasks": await board.lines()}
        if shown is None:
            raise ApiRefusal(404, "this task is no longer kept")
        await ask.answer(without_secrets(shown, self._window.secrets(), frozenset()))

    async def cancel(self, ask: Ask) -> None:
        with _reaching():
            is_kept = ask.arguments and await self._window.tasks.cancel(ask.arguments[0])
        if not is_kept:
            raise ApiRefusal(404, "this task is no longer kept")
        await ask.answer({})


@contextmanager
def _reaching() -> Iterator[None]:
    """The disk may be full, the store away."""
    try:
        yield
    except OSError as error:
        log.warning("tasks cannot be shown: %s", error)
        raise ApiRefusal(503, AWAY) from None
