"""Whoever asks while the first catalog is still being made gets all of it, like the first."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

from tests.peers.inmemory import TOOLS
from toolyard.catalog.entries import Entries
from toolyard.catalog.keeper import Keeper


class Late:
    """Knows its tools once it has settled, and then takes its time to say them."""

    def __init__(self) -> None:
        self.settled = False
        self.reading, self.go_on = threading.Event(), threading.Event()

    def read(self) -> Entries:
        if not self.settled:
            return Entries()
        self.reading.set()
        assert self.go_on.wait(10)
        return Entries(tools=TOOLS)

    async def settle(self) -> None:
        self.settled = True

    async def watch(self, changed: Callable[[], None]) -> None: ...


async def test_calls_that_come_with_the_first_see_what_it_sees() -> None:
    source = Late()
    keeper = Keeper([source])
    assert not keeper.current.tools  # what a server looks at before anybody asks
    first = asyncio.create_task(keeper.catalog())
    assert await asyncio.to_thread(source.reading.wait, 10)
    second = asyncio.create_task(keeper.catalog())
    await asyncio.sleep(0)
    assert not second.done()
    source.go_on.set()
    assert (await first).tools.keys() == (await second).tools.keys() == {t.name for t in TOOLS}


async def test_a_first_call_that_is_given_up_leaves_the_others_theirs() -> None:
    source = Late()
    keeper = Keeper([source])
    assert not keeper.current.tools
    first = asyncio.create_task(keeper.catalog())
    assert await asyncio.to_thread(source.reading.wait, 10)
    second = asyncio.create_task(keeper.catalog())
    first.cancel()
    source.go_on.set()
    assert (await second).tools.keys() == {t.name for t in TOOLS}
