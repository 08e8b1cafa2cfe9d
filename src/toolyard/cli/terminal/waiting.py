"""A line that moves while servers start, for a person who would otherwise see nothing.

The first start of a server may download it: the end of what it says on stderr is shown as well.
"""

from __future__ import annotations

import asyncio
import itertools
import shutil
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager, suppress

from toolyard.telemetry import one_line
from toolyard.upstreams.health import Health

CLEAR = "\r\x1b[K"
# Whoever is faster needs no sign of life.
_PATIENCE = 0.5
_STEP = 0.1
_FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"


@asynccontextmanager
async def waiting(health: Callable[[], Iterable[Health]]) -> AsyncIterator[None]:
    """Says which servers are being started, as long as the block takes."""
    if not sys.stderr.isatty():
        yield
        return
    line = asyncio.create_task(_moving(health))
    try:
        yield
    finally:
        line.cancel()
        with suppress(asyncio.CancelledError):
            await line


async def _moving(health: Callable[[], Iterable[Health]]) -> None:
    begin = time.monotonic()
    await asyncio.sleep(_PATIENCE)
    is_drawn = False
    try:
        for frame in itertools.cycle(_FRAMES):
            text = waiting_for(health(), time.monotonic() - begin)
            # The line is ours only while there is something to say: a question may be on it.
            if text or is_drawn:
                _draw(f"{frame} {text}" if text else "")
            is_drawn = bool(text)
            await asyncio.sleep(_STEP)
    finally:
        if is_drawn:
            _draw("")


def _draw(text: str) -> None:
    sys.stderr.write(CLEAR + text[: shutil.get_terminal_size().columns - 1])
    sys.stderr.flush()


def waiting_for(servers: Iterable[Health], seconds: float) -> str:
    """Empty when nothing is being started."""
    starting = [server for server in servers if server.state == "starting"]
    if not starting:
        return ""
    names = ", ".join(server.server for server in starting)
    lines = [server.stderr.strip().rpartition("\n")[2] for server in starting]
    said = next((line for line in lines if line), "")
    return f"starting {names} ({seconds:.0f} s){': ' if said else ''}{one_line(said)}"
