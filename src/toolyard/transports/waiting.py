"""Work for a client that may leave: run it, and stop it when the connection is gone."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from toolyard.asgi import Receive, WhenLeft


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


class UnlessLeft:
    """Around work in the current task: it ends, quietly, when the client leaves before."""

    __slots__ = ("_left", "_task", "_when_left")

    def __init__(self, when_left: WhenLeft) -> None:
        self._when_left = when_left
        self._left = False

    def __enter__(self) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._task = task
        self._when_left(self._leave)

    def _leave(self) -> None:
        self._left = True
        self._task.cancel()

    def __exit__(self, kind: type[BaseException] | None, *_error: object) -> bool:
        self._when_left(None)
        if not self._left or kind is not asyncio.CancelledError:
            return False
        self._task.uncancel()
        return True
