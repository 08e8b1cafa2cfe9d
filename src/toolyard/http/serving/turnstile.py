"""Accept on a socket that other processes accept on as well. `turns` says how that is fair."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable

from toolyard.http.serving.turns import Turns

MOMENT = 0.002
NO_DESCRIPTOR = 1.0  # what waits for one, waits so long


class Turnstile:
    """Accepts on a shared socket what is ours to accept."""

    def __init__(self, turns: Turns, number: int, sock: socket.socket) -> None:
        self._turns = turns
        self._number = number
        self._sock = sock
        self._held: Callable[[], int] = lambda: 0
        self._entering: set[asyncio.Task[None]] = set()
        self._closed = False

    async def open(self, make: Callable[[], asyncio.Protocol], held: Callable[[], int]) -> None:
        self._make, self._held = make, held
        self._loop = asyncio.get_running_loop()
        self._turns.enter(self._number)
        self._accepted = self._turns.accepted(self._number)
        self._listen()

    def note(self) -> None:
        """The number of connections has changed."""
        if not self._closed:
            held = self._held() + len(self._entering)
            self._turns.note(self._number, held, self._accepted)

    def _listen(self) -> None:
        if not self._closed:
            self._loop.add_reader(self._sock, self._waiting)

    def _waiting(self) -> None:
        self.note()
        if self._turns.is_mine(self._number):
            self._accept()
            return
        self._loop.remove_reader(self._sock)
        self._loop.call_later(MOMENT, self._take_what_is_left)

    def _take_what_is_left(self) -> None:
        if not self._closed:
            self._accept()
            self._listen()

    def _accept(self) -> None:
        """One: the next may be somebody else's."""
        try:
            sock, _ = self._sock.accept()
        except (BlockingIOError, InterruptedError, ConnectionAbortedError):
            return
        except OSError:  # no descriptor is left: what waits, waits on
            self._loop.remove_reader(self._sock)
            self._loop.call_later(NO_DESCRIPTOR, self._listen)
            return
        sock.setblocking(False)
        self._accepted += 1
        task = self._loop.create_task(self._enter(sock))
        self._entering.add(task)
        task.add_done_callback(self._entered)
        self.note()

    async def _enter(self, sock: socket.socket) -> None:
        await self._loop.connect_accepted_socket(self._make, sock)

    def _entered(self, task: asyncio.Task[None]) -> None:
        self._entering.discard(task)
        if not task.cancelled():
            task.exception()  # the client has left already
        self.note()

    def close(self) -> None:
        """Others go on accepting: only we do not."""
        self._closed = True
        self._loop.remove_reader(self._sock)
        self._turns.leave(self._number)
        for task in tuple(self._entering):
            task.cancel()
        self._sock.close()
