"""Work for a client that may leave: run it, and stop it when the connection is gone."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from toolyard.asgi import Receive

# Short calls never pay for being watched.
WATCH_AFTER = 0.05


async def while_connected(work: Coroutine[Any, Any, None], receive: Receive) -> None:
    """Run work until it is done or the client has left."""
    task = asyncio.get_running_loop().create_task(work)
    gone = asyncio.get_running_loop().create_task(disconnected(receive))
    try:
        await asyncio.wait((task, gone), return_when=asyncio.FIRST_COMPLETED)
    finally:
        task.cancel()
        gone.cancel()
        await asyncio.gather(task, gone, return_exceptions=True)


async def disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


class Watched:
    """Cancels the current task when its client leaves; starts to look only after a while."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._task = asyncio.current_task()
        self._watcher: asyncio.Task[None] | None = None
        self._timer = asyncio.get_running_loop().call_later(WATCH_AFTER, self._look)
        self.left = False

    def _look(self) -> None:
        self._watcher = asyncio.get_running_loop().create_task(self._wait())

    async def _wait(self) -> None:
        await disconnected(self._receive)
        self.left = True
        if self._task is not None:
            self._task.cancel()

    def stop(self) -> None:
        self._timer.cancel()
        if self._watcher is not None:
            self._watcher.cancel()


async def unless_left(receive: Receive, work: Callable[[], Awaitable[None]]) -> bool:
    """Run work in this task; False when the client left before it was done."""
    watched = Watched(receive)
    try:
        await work()
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if not watched.left or task is None:
            raise
        task.uncancel()
        return False
    finally:
        watched.stop()
    return True
