"""Who accepts: two that listen on one socket, in one process, so that none is slower to wake."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager

from tests.until import until
from toolyard.http.serving.turns import Turns
from toolyard.http.serving.turnstile import Turnstile


class Taker(asyncio.Protocol):
    """What is made for each connection, by one of those that accept."""

    def __init__(self, taken: list[Taker]) -> None:
        self._taken = taken

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport
        self._taken.append(self)


class Accepting:
    """One of those that accept, and what it has taken."""

    def __init__(self, turns: Turns, number: int, sock: socket.socket) -> None:
        self.turnstile = Turnstile(turns, number, sock.dup())
        self.taken: list[Taker] = []

    async def open(self) -> None:
        await self.turnstile.open(lambda: Taker(self.taken), self.held)

    def held(self) -> int:
        return sum(not taker.transport.is_closing() for taker in self.taken)

    def let_go(self) -> None:
        for taker in self.taken:
            taker.transport.close()


class Pair:
    """Two that accept on one socket, and clients that stay until they are let go."""

    def __init__(self, sock: socket.socket) -> None:
        turns = Turns(2)
        self.both = Accepting(turns, 0, sock), Accepting(turns, 1, sock)
        self._place = sock.getsockname()
        self._clients = ExitStack()

    async def dealt(self, count: int) -> list[int]:
        """How many each has taken of so many; one is taken before the next one comes."""
        before = self._taken()
        for number in range(1, count + 1):
            self._clients.enter_context(socket.create_connection(self._place))
            await self._until_taken(sum(before) + number)
        return [now - already for now, already in zip(self._taken(), before, strict=True)]

    async def _until_taken(self, count: int) -> None:
        await until(lambda: sum(self._taken()) == count)

    def _taken(self) -> list[int]:
        return [len(each.taken) for each in self.both]

    def close(self) -> None:
        self._clients.close()
        for each in self.both:
            each.let_go()
            each.turnstile.close()


@asynccontextmanager
async def pair() -> AsyncIterator[Pair]:
    with socket.create_server(("127.0.0.1", 0)) as sock:
        sock.setblocking(False)
        two = Pair(sock)
        for each in two.both:
            await each.open()
        try:
            yield two
        finally:
            two.close()


async def test_connections_that_stay_are_taken_in_turn() -> None:
    async with pair() as two:
        assert await two.dealt(20) == [10, 10]


async def test_connections_that_go_at_once_are_taken_in_turn() -> None:
    async with pair() as two:
        for _ in range(10):
            assert await two.dealt(2) == [1, 1]
            for each in two.both:
                each.let_go()


async def test_whoever_holds_more_leaves_the_next_ones_to_the_other() -> None:
    async with pair() as two:
        await two.dealt(20)
        two.both[1].let_go()
        assert await two.dealt(10) == [0, 10]
        two.both[0].let_go()
        assert await two.dealt(10) == [10, 0]


async def test_what_its_owner_does_not_take_is_taken_all_the_same() -> None:
    async with pair() as two:
        await two.dealt(4)
        two.both[1].let_go()
        asyncio.get_running_loop().remove_reader(two.both[1].turnstile._sock)  # as if it hung
        assert await two.dealt(3) == [3, 0]
