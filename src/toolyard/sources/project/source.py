"""The project as a source of entries: scanned, kept, written to the cache, watched."""

from __future__ import annotations

import asyncio
import gc
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from toolyard.catalog.entries import Entries, Kind
from toolyard.settings import Settings
from toolyard.sources.project import cache
from toolyard.sources.project.layout import Project
from toolyard.sources.project.metadata import Metadata
from toolyard.sources.project.scan import Items, Scan, scan
from toolyard.sources.project.tools import MakeToolTarget, tool_entry
from toolyard.sources.project.walk import unchanged

FILES: dict[Kind, str] = {"tools": "tools.json"}


class _Known(NamedTuple):
    scan: Scan
    entries: Entries


class ProjectSource:
    """Yields the entries of one project folder."""

    def __init__(
        self, project: Project, settings: Settings, *, make_tool_target: MakeToolTarget
    ) -> None:
        self._project = project
        self._settings = settings
        self._make_tool_target = make_tool_target
        self._metadata = Metadata()
        self._scanning = threading.Lock()
        self._known: _Known | None = None

    def read(self) -> Entries:
        with self._scanning, _collector_paused():
            if self._known is None or not unchanged(self._known.scan.stamps):
                scanned = self._scan()
                self._known = _Known(scanned, self._entries(scanned))
                self._keep(scanned.items)
            return self._known.entries

    async def settle(self) -> None:
        """A folder is read at once."""

    async def watch(self, changed: Callable[[], None]) -> None:
        while True:
            await asyncio.sleep(self._settings.tools_ttl)
            known = self._known
            if known and not await asyncio.to_thread(unchanged, known.scan.stamps):
                changed()

    def _scan(self) -> Scan:
        if self._settings.static_registry:
            cached = self._from_cache()
            if cached is not None:
                return cached
        return scan(self._project, self._settings, self._metadata)

    def _from_cache(self) -> Scan | None:
        items: Items = {}
        for kind, name in FILES.items():
            path = os.path.join(self._project.registry, name)
            cached = cache.read(path, self._settings.registry_max_bytes)
            if cached is None:
                return None
            items[kind] = cached.items
        return Scan(items, {})

    def _entries(self, scanned: Scan) -> Entries:
        tools = () if "tools" in scanned.broken else scanned.items["tools"]
        return Entries(
            tools=tuple(
                tool_entry(item, self._project.tools, self._make_tool_target) for item in tools
            ),
            broken=scanned.broken,
            warnings=scanned.warnings,
        )

    def _keep(self, items: Items) -> None:
        """Write the cache without making the first answer wait for it."""
        if not self._settings.static_registry:
            threading.Thread(target=keep, args=(self._project, items), name="registry").start()


@contextmanager
def _collector_paused() -> Iterator[None]:
    """A scan makes many objects that stay: collecting in between costs a third of its time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def keep(project: Project, items: Items) -> None:
    for kind, name in FILES.items():
        try:
            cache.write(os.path.join(project.registry, name), items[kind])
        except OSError:
            return  # a read-only project is served without a cache
