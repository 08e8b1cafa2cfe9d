"""The keeper: holds the current catalog, refreshes it from its sources, swaps it whole."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial

from toolyard.catalog.announcer import Announcer
from toolyard.catalog.snapshot import Catalog, assemble
from toolyard.catalog.source import Source
from toolyard.catalog.tending import Troubles
from toolyard.protocol.kinds import RESOURCE_UPDATED, Kind
from toolyard.protocol.values import JsonObject
from toolyard.telemetry import logger

log = logger("catalog")
# A project of thousands of files can be wrong in thousands of places.
MOST_WARNINGS = 50


class Keeper:
    def __init__(self, sources: Sequence[Source], announcer: Announcer | None = None) -> None:
        self._sources = tuple(sources)
        self._current: Catalog | None = None
        self._refreshing = asyncio.Lock()
        self._stale = False
        self._settling = asyncio.Lock()
        self._settled = False
        self._looking: set[asyncio.Task[object]] = set()
        self.announcer = announcer or Announcer()
        self.announcer.hear_reports(self._reported)
        self.troubles = Troubles()

    @property
    def current(self) -> Catalog:
        """The catalog of this moment; built when it is first asked for."""
        if self._current is None:
            self._current = self._build()
            self._warn(self._current, ())
        return self._current

    @property
    def at_hand(self) -> Catalog | None:
        """The catalog, once the first list misses nothing."""
        return self._current if self._settled else None

    @property
    def warnings(self) -> tuple[str, ...]:
        """What has been warned of so far; nothing before there is a catalog."""
        return self._current.warnings[:MOST_WARNINGS] if self._current is not None else ()

    async def catalog(self) -> Catalog:
        """The same, after waiting briefly for what a first list should not miss."""
        if not self._settled:
            async with self._settling:
                if not self._settled:
                    await self._settle()
        return self.current

    async def _settle(self) -> None:
        await asyncio.gather(*(source.settle() for source in self._sources))
        if self._current is not None:
            await self.refresh()
        self._settled = True  # not before: whoever asks meanwhile waits as well

    def _build(self) -> Catalog:
        return assemble([source.read() for source in self._sources])

    async def refresh(self) -> frozenset[Kind]:
        """Build anew beside the loop, swap, and announce what changed."""
        self._stale = True
        async with self._refreshing:
            if not self._stale:
                return frozenset()  # another refresh saw what this one was asked for
            self._stale = False
            try:
                older = self.current
                newer = await asyncio.to_thread(self._build_and_compare, older)
            except BaseException:
                self._stale = True  # what this one was asked for is still to be seen
                raise
            self._current = newer
        changed = newer.changed_since(older)
        self._warn(newer, older.warnings)
        if changed:
            log.info("catalog changed: %s", ", ".join(sorted(changed)))
            self.announcer.changed(changed)
        return changed

    def _build_and_compare(self, older: Catalog) -> Catalog:
        newer = self._build()
        newer.changed_since(older)  # hashes both here, beside the loop
        return newer

    def _warn(self, catalog: Catalog, known: Sequence[str]) -> None:
        seen = frozenset(known)
        new = [warning for warning in catalog.warnings if warning not in seen]
        for warning in new[:MOST_WARNINGS]:
            log.warning("%s", warning)
            self.announcer.warned(warning)
        if len(new) > MOST_WARNINGS:
            log.warning("and %d more like these", len(new) - MOST_WARNINGS)

    async def watch(self) -> None:
        """Refresh whenever a source says that it may have changed, until cancelled."""
        wanted = asyncio.Event()
        async with asyncio.TaskGroup() as tasks:
            for number, source in enumerate(self._sources, 1):
                name = f"watching source {number}"
                tasks.create_task(self.troubles.tend(name, partial(source.watch, wanted.set)))
            await self.troubles.tend(
                "keeping the catalog up to date", partial(self._refresh_when, wanted)
            )

    async def _refresh_when(self, wanted: asyncio.Event) -> None:
        while True:
            await wanted.wait()
            wanted.clear()
            try:
                await self.refresh()
            except Exception:
                wanted.set()
                raise

    def _reported(self, method: str, params: JsonObject) -> None:
        """A script said that something on offer has changed: look at once."""
        if method == RESOURCE_UPDATED:
            self.announcer.updated(str(params.get("uri", "")))
            return
        task: asyncio.Task[object] = asyncio.get_running_loop().create_task(self.refresh())
        self._looking.add(task)
        task.add_done_callback(self._looking.discard)
