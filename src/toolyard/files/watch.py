"""Noticing that files change, in two ways.

**A tree** (`FileEvents`): the system reports what happens in it, to threads of ours. Setting that
up takes an import and a walk, tens of milliseconds, and it cannot be relied on: a network file
system reports nothing, and what changed before everything was watched is not reported either.
Whoever uses it looks again from time to time.

**A few files** (`Looks`): we look at them ten times a second, which costs microseconds. There is
nothing to set up, so an edit right after the start is seen; so are a file that takes the place of
another, a file behind a link, and one that did not exist before.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from toolyard.telemetry import logger

# Events are gathered until none came for STEP, at most for GATHER: within 200 ms in all.
STEP_MS = 20
GATHER_MS = 100
_TICK_MS = 1000
# Seconds between two looks at files that an operator edits.
LOOK_EVERY = 0.1
log = logger("files.watch")
Seen = TypeVar("Seen")


class Looks(Generic[Seen]):
    """Looks at the same files again and again, in a thread: a folder may be on a dead mount."""

    def __init__(self, look: Callable[[], Seen], seen: Seen) -> None:
        self._look = look
        self._seen = seen

    async def changed(self) -> None:
        """Wait until they are not what they were at the last change."""
        while True:
            await asyncio.sleep(LOOK_EVERY)
            now = await asyncio.to_thread(self._look)
            if now != self._seen:
                self._seen = now
                return


class FileEvents:
    """File events, from threads that block in the system's watcher."""

    def __init__(
        self, folders: tuple[str, ...], root: str, loop: asyncio.AbstractEventLoop
    ) -> None:
        self._folders = folders
        self._root = root
        self._loop = loop
        self._woken = asyncio.Event()
        self._paths: set[str] = set()
        self._stop = threading.Event()

    def start(self) -> None:
        self._spawn(self._folders, recursive=True)
        self._spawn((self._root,), recursive=False)

    def follow(self, folders: tuple[str, ...]) -> None:
        """Watch other folders from now on: one has appeared, or is gone."""
        if folders == self._folders:
            return
        self.stop()
        self._folders = folders
        self._stop = threading.Event()
        self.start()

    async def next(self, seconds: float) -> frozenset[str]:
        """The paths that changed; empty if the time has passed."""
        try:
            async with asyncio.timeout(seconds):
                await self._woken.wait()
        except TimeoutError:
            pass
        self._woken.clear()
        paths, self._paths = frozenset(self._paths), set()
        return paths

    def stop(self) -> None:
        self._stop.set()

    def _spawn(self, folders: tuple[str, ...], *, recursive: bool) -> None:
        if folders:
            threading.Thread(
                target=self._follow,
                args=(folders, recursive, self._stop),
                name="watch",
                daemon=True,
            ).start()

    def _follow(self, folders: tuple[str, ...], recursive: bool, stop: threading.Event) -> None:
        # Here, in a thread: the import and the set-up take tens of milliseconds.
        from watchfiles import watch  # noqa: PLC0415

        try:
            for changes in watch(
                *folders,
                watch_filter=None,
                debounce=GATHER_MS,
                step=STEP_MS,
                stop_event=stop,
                rust_timeout=_TICK_MS,
                yield_on_timeout=False,
                recursive=recursive,
                raise_interrupt=False,
            ):
                self._tell({path for _, path in changes})
        except Exception as error:
            log.info("files cannot be watched and are polled instead: %s", error)

    def _tell(self, paths: set[str]) -> None:
        try:
            self._loop.call_soon_threadsafe(self._heard, paths)
        except RuntimeError:
            self._stop.set()  # the loop has ended

    def _heard(self, paths: set[str]) -> None:
        self._paths |= paths
        self._woken.set()
