"""Notice that a project's files change: by file events in a thread, and by looking again."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Collection

from toolyard.files.watch import FileEvents
from toolyard.scripts.resources.changes import FileChanges
from toolyard.settings import Settings
from toolyard.sources.project.layout import Project

# Setting up stops everything else for up to 0.1 s: the first answers come before it.
START_AFTER = 0.5
# What changed before everything was watched is found by looking again.
EARLY_LOOKS = (0.0, 0.25, 0.5, 1.0)


class ProjectWatch:
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
        events = FileEvents(self._folders(), self._project.root, asyncio.get_running_loop())
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
