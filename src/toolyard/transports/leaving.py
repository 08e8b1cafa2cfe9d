"""Reasons for a server on pipes to stop that nobody tells it. Knows no messages."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable

from toolyard.telemetry import logger

log = logger("stdio")
# Seconds between looks at what still runs, once the time is over.
_LOOK = 0.05


async def until_idle(
    timeout: float, last_heard: Callable[[], float], is_busy: Callable[[], object]
) -> None:
    """Until nothing was received for so long, and nothing runs."""
    clock = asyncio.get_running_loop().time
    while (seconds := last_heard() + timeout - clock()) > 0 or is_busy():
        await asyncio.sleep(max(seconds, _LOOK))
    log.info("nothing was received for %g s: stopping", timeout)


async def until_orphaned(interval: float) -> None:
    """Until the process that started us is gone; looked at once in an interval."""
    parent = os.getppid()
    while os.getppid() == parent:
        await asyncio.sleep(interval)
    log.info("the parent process is gone: stopping")
