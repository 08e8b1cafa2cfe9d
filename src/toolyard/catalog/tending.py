"""Work that must go on: what fails in it is logged, shown and tried again, never silently over."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from toolyard.telemetry import logger

log = logger("tending")
FIRST_WAIT, MOST_WAIT = 0.5, 30.0
# Whoever has gone on for this long was well again.
WELL_AFTER = 60.0


class Troubles:
    """What fails at present, by name, and why; for /status and the page."""

    def __init__(self) -> None:
        self.known: dict[str, str] = {}

    async def tend(self, name: str, work: Callable[[], Awaitable[None]]) -> None:
        """Run it until it ends by itself or is cancelled; begin again whenever it fails."""
        loop = asyncio.get_running_loop()
        wait = FIRST_WAIT
        while True:
            began = loop.time()
            try:
                await self._once(name, work, wait)
                return
            except Exception as error:
                self.known[name] = f"{type(error).__name__}: {error}"[:500]
                log.error("%s failed, tried again in %g s", name, wait, exc_info=error)
            await asyncio.sleep(wait)
            wait = FIRST_WAIT if loop.time() - began > WELL_AFTER else min(wait * 2, MOST_WAIT)

    async def _once(self, name: str, work: Callable[[], Awaitable[None]], patience: float) -> None:
        """What has gone on for as long as it was waited for is no trouble any more."""
        well = asyncio.get_running_loop().call_later(patience, self.known.pop, name, None)
        try:
            await work()
            self.known.pop(name, None)
        finally:
            well.cancel()
