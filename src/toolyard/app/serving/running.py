"""Keep the app up to date while it serves; then close it and end the process.

The process ends when it is told to, even if a thread hangs in a dead folder or a FIFO.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from toolyard.app.kept_instructions import keep
from toolyard.protocol.call import LOCAL
from toolyard.telemetry import logger

if TYPE_CHECKING:
    from toolyard.app.build import App
    from toolyard.app.plan import Plan

log = logger("ending")
# For closing what runs, which has limits of its own; and then for the threads.
CLOSING, THREADS = 15.0, 0.5


@asynccontextmanager
async def beside(*work: Coroutine[None, None, None]) -> AsyncIterator[None]:
    """Have this done meanwhile, and end it."""
    tasks = [asyncio.create_task(part) for part in work]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@asynccontextmanager
async def kept_running(app: App) -> AsyncIterator[None]:
    watcher = asyncio.get_running_loop().create_task(app.watch())
    try:
        yield
    finally:
        watcher.cancel()
        insist(CLOSING)
        await app.close()
        insist(THREADS)


def keep_instructions(plan: Plan, app: App) -> None:
    """For the next start; to be done before the app closes, and forgets what servers have said."""
    text, own = app.edge.identity_for(LOCAL).instructions, plan.identity.instructions
    keep(plan.registry_paths, plan.settings, own, text if text != own else None)


def insist(seconds: float) -> None:
    """End the process by then. A thread that hangs can be neither cancelled nor joined."""
    timer = threading.Timer(seconds, _leave)
    timer.daemon = True
    timer.start()


def _leave() -> None:
    log.warning("a thread does not end: stopping without it")
    os._exit(0)
