"""What keeps the catalog up to date cannot end unseen: it is logged, shown and tried again."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest

from tests.until import until
from toolyard.catalog import tending
from toolyard.catalog.entries import Entries
from toolyard.catalog.keeper import Keeper


class Shaky:
    """A source that fails as often as it is told to, in what it is told to."""

    def __init__(self) -> None:
        self.reads = self.failing_reads = self.failing_watches = 0
        self.changed: Callable[[], None] = lambda: None
        self.watched = asyncio.Event()

    def read(self) -> Entries:
        self.reads += 1
        if self.failing_reads:
            self.failing_reads -= 1
            raise RuntimeError("cannot read today")
        return Entries(broken={"tools": f"read {self.reads} times"})

    async def settle(self) -> None:
        """At once."""

    async def watch(self, changed: Callable[[], None]) -> None:
        if self.failing_watches:
            self.failing_watches -= 1
            raise RuntimeError("cannot watch today")
        self.changed = changed
        self.watched.set()
        await asyncio.Event().wait()


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tending, "FIRST_WAIT", 0.01)


@asynccontextmanager
async def kept(source: Shaky) -> AsyncIterator[Keeper]:
    keeper = Keeper([source])
    assert keeper.current.broken
    watching = asyncio.create_task(keeper.watch())
    async with asyncio.timeout(10):
        await source.watched.wait()
        yield keeper
    assert not watching.done()
    watching.cancel()


async def test_a_refresh_that_fails_is_logged_shown_and_made_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    source = Shaky()
    async with kept(source) as keeper:
        told = asyncio.Event()
        keeper.announcer.join(lambda _method, _params: told.set())
        source.failing_reads = 2
        with caplog.at_level(logging.ERROR, "toolyard"):
            logging.getLogger("toolyard").propagate = True
            source.changed()
            while not keeper.troubles.known:
                await asyncio.sleep(0)
            [why] = keeper.troubles.known.values()
            assert "cannot read today" in why
            await told.wait()
        assert keeper.current.broken == {"tools": "read 4 times"}
        assert "keeping the catalog up to date failed" in caplog.text
        await until(lambda: not keeper.troubles.known)


async def test_a_source_whose_watch_fails_is_watched_again() -> None:
    source = Shaky()
    source.failing_watches = 3
    async with kept(source) as keeper:
        told = asyncio.Event()
        keeper.announcer.join(lambda _method, _params: told.set())
        source.changed()
        await told.wait()
