"""Waiting for what no event tells of: files, other processes, the answers of a server.

Where there is an event, wait for that.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar, overload

from tests.processes import alive

T = TypeVar("T")
# Only a test that fails waits that long: enough for a machine that has much else to do.
WITHIN = 60.0
STEP = 0.01


@overload
async def until(condition: Callable[[], Awaitable[T | None]], within: float = WITHIN) -> T: ...


@overload
async def until(condition: Callable[[], T | None], within: float = WITHIN) -> T: ...


async def until(condition: Callable[[], Any], within: float = WITHIN) -> Any:
    """What the condition says once that is true; it may be a coroutine function."""
    async with asyncio.timeout(within):
        while True:
            said = condition()
            if inspect.isawaitable(said):
                said = await said
            if said:
                return said
            await asyncio.sleep(STEP)


async def until_exists(path: Path) -> str:
    """What is in a file, once something is."""
    return await until(lambda: path.read_text() if path.exists() else None)


async def until_dead(pid: int) -> None:
    await until(lambda: not alive(pid))
