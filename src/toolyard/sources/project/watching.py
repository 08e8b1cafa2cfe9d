"""Notice that a project's files change: by file events in a thread, and by looking again."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Collection

from toolyard.scripts.resources.changes import FileChanges
from toolyard.settings import Settings
from toolyard.sources.project.layout import Project
from toolyard.telemetry import logger

# Events are gathered until none came for STEP, at most for GATHER: within 200 ms in all.
STEP_MS = 20
GATHER_MS = 100
_TICK_MS = 1000
# Setting up stops everything else for up to 0.1 s: the first answers come before it.
START_AFTER = 0.5
# What changed before everything was watched is found by looking again.
EARLY_LOOKS = (0.0, 0.25, 0.5, 1.0)
log = logger("project.watch")


class Watching:
    def __init__(self, project: Project, settings: Settings, changes: FileChanges) -> None:
        self._project = project
        self._interval = max(
            0.05,
            min(
                settings.tools_ttl,
                settings.resources_ttl,
                settings.prompts_ttl,
                settings.resources_templates_ttl,
                settings.ui_ttl,
                settings.register_ttl,
            ),
        )
        self._changes = changes

    async def run(
        self, look: Callable[[Collection[str]], bool], changed: Callable[[], None]
    ) -> None:
        """`look` at the paths of events, or at everything where there were none for a while."""
        events = _Events(self._folders(), self._project.root, asyncio.get_running_loop())
        await asyncio.sleep(START_AFTER)
        events.start()
        looks = iter(EARLY_LOOKS)
        try:
            while True:
                paths = await events.next(next(looks, self._interval))
                self._changes.fire(paths)
                if await asyncio.to_thread(look, paths):
                    changed()
                    events.follow(self._folders())
        finally:
            events.stop()

    def _folders(self) -> tuple[str, ...]:
        project = self._project
        candidates = (
            project.tools,
            project.resources,
            project.prompts,
            project.ui,
            project.server,
            project.providers,
        )
        return tuple(folder for folder in candidates if os.path.isdir(folder))


class _Events:
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
        """Watch other folders from now on: one of them has come into being, or gone."""
        if folders == self._folders:
            return
        self.stop()
        self._folders = folders
        self._stop = threading.Event()
        self.start()

    async def next(self, seconds: float) -> frozenset[str]:
        """The paths that changed; empty when the time has passed."""
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
            for found in watch(
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
                self._tell({path for _, path in found})
        except Exception as error:
            log.info("files are not watched, they are looked at instead: %s", error)

    def _tell(self, paths: set[str]) -> None:
        try:
            self._loop.call_soon_threadsafe(self._heard, paths)
        except RuntimeError:
            self._stop.set()  # the loop has ended

    def _heard(self, paths: set[str]) -> None:
        self._paths |= paths
        self._woken.set()
