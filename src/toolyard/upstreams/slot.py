"""A place for one connection: opened on first use, opened again after it was lost."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from time import monotonic

from toolyard.upstreams.conversation.session import UpstreamSession
from toolyard.upstreams.lists.watch import ChangeWatch


class Slot:
    """One connection, or none at the moment.

    `watch`: what is to be heard over it. `whose`: a login, and what its clients can do.
    """

    def __init__(
        self,
        connect: Callable[[Slot], Awaitable[UpstreamSession]],
        watch: ChangeWatch,
        whose: tuple[str, str],
        *,
        shared: bool,
    ) -> None:
        self._connect = connect
        self.watch = watch
        self.whose = whose
        self.shared = shared
        self._session: UpstreamSession | None = None
        self._opening: asyncio.Task[UpstreamSession] | None = None
        self.last_used = monotonic()

    @property
    def live(self) -> UpstreamSession | None:
        session = self._session
        return session if session is not None and session.link.lost is None else None

    @property
    def opening(self) -> bool:
        return self._opening is not None

    @property
    def in_use(self) -> bool:
        session = self.live
        return self.opening or self.watch.wanted or (session is not None and session.busy)

    async def get(self) -> UpstreamSession:
        """The connection; whoever comes while it is being opened waits for the same one."""
        session = self.live
        if session is not None:
            return session
        # One that has just failed may have been told to wait; whoever comes now need not.
        if self._opening is None or self._opening.done():
            self._opening = asyncio.get_running_loop().create_task(self._open())
            self._opening.add_done_callback(self._opened)
        # Shielded: one impatient caller must not end it for the others.
        return await asyncio.shield(self._opening)

    async def _open(self) -> UpstreamSession:
        self._session = await self._connect(self)
        return self._session

    def _opened(self, task: asyncio.Task[UpstreamSession]) -> None:
        if self._opening is task:
            self._opening = None
        if not task.cancelled():
            task.exception()  # seen, even where nobody waits any more

    async def close(self) -> None:
        if self._opening is not None:
            self._opening.cancel()
            await asyncio.gather(self._opening, return_exceptions=True)
        await self.watch.close()
        session, self._session = self._session, None
        if session is not None:
            await session.close()
