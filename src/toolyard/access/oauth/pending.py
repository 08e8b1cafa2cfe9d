"""A login that waits for its person. Whoever needs the same login meanwhile shares it.

It begins when it is made and ends with a grant, an error, or when the last who waited has left:
a login page that nobody waits for any more would answer to nobody.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from toolyard.access.oauth.browser import Browser, Loopback


class PendingLogin:
    """One visit to a login page: the link to open, and how it ends."""

    def __init__(self, log_in: Callable[[Browser], Awaitable[object]]) -> None:
        loop = asyncio.get_running_loop()
        self._link: asyncio.Future[str] = loop.create_future()
        self._task = loop.create_task(self._work(log_in))
        self._people = 0

    async def _work(self, log_in: Callable[[Browser], Awaitable[object]]) -> None:
        await log_in(Loopback(self._link.set_result))

    @property
    def page(self) -> str:
        """The page to open, as far as it is known by now."""
        return self._link.result() if self._link.done() else ""

    def when_over(self, tell: Callable[[], object]) -> Callable[[], None]:
        """Call this when it is over; returns how to be left alone."""

        def over(_task: asyncio.Task[None]) -> None:
            tell()

        self._task.add_done_callback(over)

        def leave() -> None:
            self._task.remove_done_callback(over)

        return leave

    @asynccontextmanager
    async def joined(self) -> AsyncIterator[PendingLogin]:
        """It goes on while somebody is in this block."""
        self._people += 1
        try:
            yield self
        finally:
            self._people -= 1
            if not self._people:
                self._task.cancel()
                await asyncio.gather(self._task, return_exceptions=True)

    async def link(self) -> str:
        """The page to open; empty where nobody had to. Raises OAuthError."""
        either: set[asyncio.Future[str] | asyncio.Task[None]] = {self._link, self._task}
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        if self._link.done():
            return self._link.result()
        self._task.result()
        return ""

    async def end(self) -> None:
        """Returns once there is a grant. Raises OAuthError."""
        await asyncio.shield(self._task)
