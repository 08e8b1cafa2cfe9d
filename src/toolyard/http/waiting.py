"""Work for a client that may leave: run it, and stop it when the connection is gone."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from toolyard.http.messages import Receive


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
