"""The API's routes for how servers fare: the last hour, a server's journal, trying it again."""

from __future__ import annotations

from urllib.parse import unquote

from toolyard.web.routes.request import ApiRefusal, Ask
from toolyard.web.window import Window

_UNKNOWN = "the registry has no such server"


class CareRoutes:
    def __init__(self, window: Window) -> None:
        self._care = window.care

    async def history(self, ask: Ask) -> None:
        document = await self._care.history()
        if document is None:
            raise ApiRefusal(404, "calls are not counted (the setting metrics is off)")
        await ask.answer(document)

    async def journal(self, ask: Ask) -> None:
        document = self._care.journal(_name(ask))
        if document is None:
            raise ApiRefusal(404, _UNKNOWN)
        await ask.answer(document)

    async def retry(self, ask: Ask) -> None:
        if not await self._care.retry(_name(ask)):
            raise ApiRefusal(404, _UNKNOWN)
        await ask.answer({})


def _name(ask: Ask) -> str:
    return unquote(ask.arguments[0]) if ask.arguments else ""
