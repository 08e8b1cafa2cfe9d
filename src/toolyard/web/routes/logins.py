"""The API's routes for logins at OAuth servers: their state, log in, log out."""

from __future__ import annotations

from urllib.parse import unquote

from toolyard.errors import UpstreamError
from toolyard.web.routes.request import ApiRefusal, Ask
from toolyard.web.window import Window


class LoginRoutes:
    """Logins at OAuth servers."""

    def __init__(self, window: Window) -> None:
        self._window = window

    async def show(self, ask: Ask) -> None:
        await ask.answer({"logins": self._window.logins.states()})

    async def begin(self, ask: Ask) -> None:
        """Answer with the page to open; the login goes on when the browser comes back from it."""
        try:
            link = await self._window.logins.log_in(_name(ask))
        except UpstreamError as error:
            raise ApiRefusal(502, error.message) from None
        if link is None:
            raise ApiRefusal(404, "the registry has no such OAuth server")
        await ask.answer({"link": link})

    async def end(self, ask: Ask) -> None:
        if not await self._window.logins.log_out(_name(ask)):
            raise ApiRefusal(404, "the registry has no such OAuth server")
        await ask.answer({})


def _name(ask: Ask) -> str:
    return unquote(ask.arguments[0]) if ask.arguments else ""
