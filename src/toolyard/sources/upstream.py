"""The listings of federated servers, kept current. Knows the pool and no connections."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping

from toolyard.catalog.listing import Listing
from toolyard.upstreams.pool import Pool

SETTLE_SECONDS = 5.0
# How often a server that could not list is asked again.
FIRST_WAIT, MOST_WAIT = 2.0, 60.0
# How soon after an announcement it is asked: a flood of them is asked about a few times a second.
AGAIN_AFTER = 0.1


class UpstreamListings:
    """Follows the servers that something refers to; no other server is started."""

    def __init__(self, pool: Pool, servers: Iterable[str] = ()) -> None:
        self._pool = pool
        self._servers: tuple[str, ...] = ()
        # Replaced and never edited, because it is read in a thread.
        self._listed: Mapping[str, Listing] = {}
        self._stirred: dict[str, asyncio.Event] = {}
        self._followed_anew = asyncio.Event()
        pool.on_change(self._stir)
        self.follow(servers)

    def follow(self, servers: Iterable[str]) -> None:
        """The servers whose listings matter from now on."""
        self._servers = tuple(servers)
        # Not what we hold already: under an old name there may be another server now.
        listings = {name: self._pool.known_listing(name) for name in self._servers}
        self._listed = {name: listing for name, listing in listings.items() if listing is not None}
        self._followed_anew.set()

    @property
    def followed(self) -> frozenset[str]:
        return frozenset(self._servers)

    def read(self) -> Mapping[str, Listing | None]:
        """What each server last listed; None where that is not known yet."""
        listings = self._listed
        return {name: listings.get(name) for name in self._servers}

    async def settle(self, within: float = SETTLE_SECONDS) -> None:
        """Wait briefly for the servers that have never been listed, all at once."""
        missing = [name for name in self._servers if name not in self._listed]
        if not missing:
            return
        questions = {asyncio.ensure_future(self._refresh(name)) for name in missing}
        try:
            await asyncio.wait(questions, timeout=within)
        finally:
            for question in questions:
                question.cancel()  # `watch` asks again, and the start itself goes on

    async def arrive(self, changed: Callable[[], None]) -> None:
        """Wait for the servers that have never been listed, as long as they may take to start."""
        missing = [name for name in self._servers if name not in self._listed]
        await asyncio.gather(*(self._look(name, changed) for name in missing))

    async def ask(self) -> Mapping[str, Listing]:
        """What every server lists now, however long that takes."""
        await asyncio.gather(*map(self._refresh, self._servers))
        return self._listed

    async def watch(self, changed: Callable[[], None]) -> None:
        """Ask again whenever a server says that it has changed, until cancelled."""
        while True:
            self._followed_anew.clear()
            async with asyncio.TaskGroup() as tasks:
                followers = [tasks.create_task(self._follow(n, changed)) for n in self._servers]
                await self._followed_anew.wait()
                for task in followers:
                    task.cancel()

    async def _follow(self, name: str, changed: Callable[[], None]) -> None:
        stir = self._stirred.setdefault(name, asyncio.Event())
        wait = FIRST_WAIT
        if name in self._listed and self._listed[name].error is None:
            await stir.wait()  # what was kept is believed until the server is used
        while True:
            stir.clear()
            try:
                await self._look(name, changed)
            except Exception:
                stir.set()  # whoever begins again looks again
                raise
            is_failure = self._listed[name].error is not None
            try:
                async with asyncio.timeout(wait if is_failure else None):
                    await stir.wait()
                wait = FIRST_WAIT
                await asyncio.sleep(AGAIN_AFTER)  # what it announces meanwhile is seen as well
            except TimeoutError:
                wait = min(wait * 2, MOST_WAIT)

    async def _look(self, name: str, changed: Callable[[], None]) -> None:
        if await self._refresh(name):
            changed()

    async def _refresh(self, name: str) -> bool:
        """True when the server lists something else than before."""
        listing = await self._pool.listing(name)
        if self._listed.get(name) == listing:
            return False
        if name in self._servers:
            self._listed = {**self._listed, name: listing}
        return True

    def _stir(self, name: str) -> None:
        if name in self._stirred:
            self._stirred[name].set()
