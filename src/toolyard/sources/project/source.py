"""The project as a source of entries: scanned, kept, written to the cache, watched."""

from __future__ import annotations

import asyncio
import atexit
import os
import threading
import time
from collections.abc import Callable, Collection
from typing import NamedTuple

from toolyard.catalog.entries import Entries
from toolyard.files.stamp import path_changed_at, unchanged
from toolyard.protocol.call import JsonObject, Target
from toolyard.protocol.kinds import Kind
from toolyard.scripts.resources.changes import FileChanges
from toolyard.scripts.running.runner import Runner
from toolyard.scripts.tool import ScriptTarget
from toolyard.settings import Settings
from toolyard.sources.project.cache import files as cache
from toolyard.sources.project.cache.items import usable
from toolyard.sources.project.cache.kinds import FileKind, apart, listed_with, paths_in, together
from toolyard.sources.project.discover.metadata import Metadata
from toolyard.sources.project.discover.resources import FIELDS
from toolyard.sources.project.discover.scan import (
    CollectorPaused,
    Items,
    Scan,
    registration_of,
    scan,
    unscanned,
)
from toolyard.sources.project.entries import EntryBuilder, MakeToolTarget
from toolyard.sources.project.identity import doubts_about
from toolyard.sources.project.layout import Project
from toolyard.sources.project.register.file import RegistrationError, has_active_script
from toolyard.sources.project.watching import ProjectWatch
from toolyard.sources.shortage import Shortage
from toolyard.telemetry import logger

log = logger("project")
WRITE_AFTER = 0.3


class _Snapshot(NamedTuple):
    scan: Scan
    entries: Entries
    at: float


class ProjectSource:
    """Yields the entries of one project folder."""

    def __init__(
        self,
        project: Project,
        settings: Settings,
        *,
        runner: Runner,
        make_tool_target: MakeToolTarget | None = None,
        scanned: Scan | None = None,
        like_mcp_bash: bool = False,
    ) -> None:
        """`scanned`: what a scan of this moment has found, so that it is not made again.

        `like_mcp_bash`: lists say who reads a resource, because clients of mcp-bash look at it,
        and `unseen` tells in what the first scan differs from the registry files.
        """
        self._project = project
        self._settings = settings
        self._changes = FileChanges()
        make_target = make_tool_target or _scripts_of(runner)
        fields = FIELDS | {"provider"} if like_mcp_bash else FIELDS
        self._builder = EntryBuilder(project, settings, runner, self._changes, make_target, fields)
        self._metadata = Metadata()
        self._kept = CacheWriter(project)
        self._scanning = threading.Lock()
        self._scanned = scanned
        self._known: _Snapshot | None = None
        self._noticed: set[str] = set()  # folders whose contents have changed
        self._unseen: frozenset[Kind] | None = None if like_mcp_bash else frozenset()
        self._short = False  # the last scan could not be made

    def unseen(self) -> frozenset[Kind]:
        """What clients of the last start have not seen; said once."""
        unseen, self._unseen = self._unseen or frozenset(), frozenset()
        return unseen

    def read(self) -> Entries:
        with self._scanning, CollectorPaused():
            places, self._noticed = self._noticed, set()
            if self._known is None or places or self.may_have_changed():
                result = self._scan_or_keep(places)
                self._known = _Snapshot(result, self._builder.entries(result), time.monotonic())
                self._keep(result)
            return self._known.entries

    def _scan_or_keep(self, places: set[str]) -> Scan:
        """What was seen before, where it cannot be seen now; and then it is looked for again."""
        try:
            result = self._scan(places)
        except Shortage as why:
            log.warning("%s; what was served before goes on", why)
            self._short = True
            return (
                self._known.scan if self._known else unscanned(self._project, self._settings, why)
            )
        self._short = False
        return result

    async def settle(self) -> None:
        """Nothing to wait for: a first read finds everything."""

    async def watch(self, changed: Callable[[], None]) -> None:
        """Where files can be watched, on each event; everywhere, when the TTL has passed."""
        for doubt in await asyncio.to_thread(doubts_about, self._project):
            log.warning("%s", doubt)
        if self._settings.static_registry:
            return
        watcher = ProjectWatch(self._project, self._settings, self._changes)
        await watcher.run(self.look, changed)

    def look(self, paths: Collection[str]) -> bool:
        """Has anything changed? Where there were events, a look at what they name will do."""
        with self._scanning:
            snapshot = self._known
            if (
                not paths
                or snapshot is None
                or self._short
                or has_active_script(self._project, self._settings)
            ):
                return self.may_have_changed()
            stamps = snapshot.scan.stamps
            real = set(map(_real, paths))
            places = (real | set(map(os.path.dirname, real))) & stamps.keys()
            changes = {place for place in places if path_changed_at(place) != stamps[place]}
            self._noticed |= changes | set(map(os.path.dirname, changes))
            return bool(changes)

    def may_have_changed(self) -> bool:
        """The fast path: a look at every folder and file that the last scan saw."""
        snapshot = self._known
        if snapshot is None or self._short:
            return True
        if self._settings.static_registry:
            return False
        if has_active_script(self._project, self._settings):
            # It may say something else each time, and may itself write what is watched.
            return time.monotonic() >= snapshot.at + self._settings.register_ttl
        return not unchanged(snapshot.scan.stamps)

    def _scan(self, places: set[str]) -> Scan:
        """Only the folders in which a change was noticed are read anew; all, if there is none."""
        self._metadata.folders.doubted = places or None
        first_scan, self._scanned = self._scanned, None
        if first_scan is not None:
            return first_scan
        cache_content = self._from_cache() if self._settings.static_registry else None
        return cache_content or scan(self._project, self._settings, self._metadata)

    def _from_cache(self) -> Scan | None:
        """The files as they are; a missing, broken or oversized one means a scan."""
        files: dict[FileKind, list[JsonObject]] = {}
        for kind, path in paths_in(self._project).items():
            if kind == "ui" and not os.path.exists(path):
                files[kind] = []  # mcp-bash writes none for a project without pages
                continue
            content = cache.read(path, self._settings.registry_max_bytes)
            items = usable(kind, content.items) if content else None
            if items is None:
                return None
            files[kind] = items
        try:
            completions = registration_of(self._project, self._settings).get("completions")
        except RegistrationError:
            return None  # the scan says what is wrong with it
        return Scan(together(files), {}, (), {}, tuple(completions or ()))

    def _keep(self, result: Scan) -> None:
        if self._unseen is None:
            static = self._settings.static_registry  # what clients have seen is what they get
            self._unseen = frozenset() if static else changed_kinds(self._project, result.items)
        if not self._settings.static_registry and not result.broken:
            self._kept.put(result.items)


def _real(path: str) -> str:
    try:
        return os.path.realpath(path)
    except OSError:  # a link was taken away while it was followed
        return path


class CacheWriter:
    """Writes the cache a moment later, so that no answer waits for it, or at the latest at exit."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._waiting: Items | None = None
        self._timer: threading.Timer | None = None

    def put(self, items: Items) -> None:
        if self._waiting is None:
            atexit.register(self.write)
        self._waiting = items
        if self._timer is None:
            self._timer = threading.Timer(WRITE_AFTER, self.write)
            self._timer.daemon = True
            self._timer.start()

    def write(self) -> None:
        self._timer, items, self._waiting = None, self._waiting, None
        atexit.unregister(self.write)
        if items is not None:
            keep(self._project, items)


def changed_kinds(project: Project, items: Items) -> frozenset[Kind]:
    """The kinds whose registry files are missing or hold something else."""
    files = apart(items)
    return frozenset(
        listed_with(kind)
        for kind, path in paths_in(project).items()
        if not cache.holds(path, cache.hash_of(files[kind]))
    )


def keep(project: Project, items: Items) -> None:
    if not os.path.isdir(project.root):
        return  # taken away meanwhile: not ours to bring back
    files = apart(items)
    for kind, path in paths_in(project).items():
        try:
            cache.write(path, files[kind])
        except OSError as error:
            log.debug("%s is not written: %s", path, error)
            return  # a read-only project is served without a cache


def _scripts_of(runner: Runner) -> MakeToolTarget:
    def make(path: str, name: str, metadata: JsonObject) -> Target:
        return ScriptTarget(name, path, metadata, runner)

    return make
