"""The API's part for logins at OAuth servers: their state, log in, log out."""

from __future__ import annotations

from urllib.parse import unquote

from toolyard.errors import UpstreamError
from toolyard.web.routes.request import Ask, Refused
from toolyard.web.window import Window


class LoginRoutes:
    def __init__(self, window: Window) -> None:
        self._window = window

    async def show(self, ask: Ask) -> None:
        logins = self._window.logins
        await ask.answer({"logins": logins.states() if logins is not None else []})

    async def begin(self, ask: Ask) -> None:
        """Answered with the page to open; the login goes on when its browser comes back."""
        logins, name = self._window.logins, _name(ask)
        try:
            link = await logins.log_in(name) if logins is not None else None
        except UpstreamError as error:
            raise Refused(502, error.message) from None
        if link is None:
            raise Refused(404, "the registry has no such OAuth server")
        await ask.answer({"link": link})

    async def end(self, ask: Ask) -> None:
        logins, name = self._window.logins, _name(ask)
        if logins is None or not await logins.log_out(name):
            raise Refused(404, "the registry has no such OAuth server")
        await ask.answer({})


def _name(ask: Ask) -> str:
    return unquote(ask.rest[0]) if ask.rest else ""
