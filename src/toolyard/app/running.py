"""While the app serves it is kept up to date; then it is closed, and the process is gone.

It ends when it is told to, whatever hangs in a thread: a dead folder, a FIFO.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from toolyard.app.build import App
from toolyard.telemetry import logger

log = logger("ending")
# For closing what runs, which has limits of its own; and then for the threads.
CLOSING, THREADS = 15.0, 0.5


@asynccontextmanager
async def kept_running(app: App) -> AsyncIterator[None]:
    watching = asyncio.get_running_loop().create_task(app.watch())
    try:
        yield
    finally:
        watching.cancel()
        insist(CLOSING)
        await app.close()
        insist(THREADS)


def insist(seconds: float) -> None:
    """Be gone by then. What waits for a thread that hangs cannot be cancelled, nor joined."""
    timer = threading.Timer(seconds, _leave)
    timer.daemon = True
    timer.start()


def _leave() -> None:
    log.warning("a thread does not end: leaving without it")
    os._exit(0)
