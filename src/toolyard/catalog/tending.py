"""Work that must go on: a failure is logged, shown and tried again, never a silent end."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from toolyard.telemetry import logger

log = logger("tending")
FIRST_WAIT, MOST_WAIT = 0.5, 30.0
# Work that has gone on for this long had recovered.
WELL_AFTER = 60.0


class Troubles:
    """What is failing right now, by name, and why; for /status and the page."""

    def __init__(self) -> None:
        self.known: dict[str, str] = {}

    async def tend(self, name: str, work: Callable[[], Awaitable[None]]) -> None:
        """Run it until it ends by itself or is cancelled; start again whenever it fails."""
        loop = asyncio.get_running_loop()
        wait = FIRST_WAIT
        while True:
            began = loop.time()
            try:
                await self._once(name, work, wait)
                return
            except Exception as error:
                self.known[name] = f"{type(error).__name__}: {error}"[:500]
                log.error("%s failed, trying again in %g s", name, wait, exc_info=error)
            await asyncio.sleep(wait)
            wait = FIRST_WAIT if loop.time() - began > WELL_AFTER else min(wait * 2, MOST_WAIT)

    async def _once(self, name: str, work: Callable[[], Awaitable[None]], patience: float) -> None:
        """Run it once. Once it has run for as long as we waited, the trouble is over."""
        well = asyncio.get_running_loop().call_later(patience, self.known.pop, name, None)
        try:
            await work()
            self.known.pop(name, None)
        finally:
            well.cancel()
