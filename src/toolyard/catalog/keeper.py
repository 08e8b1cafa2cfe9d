"""The keeper: holds the current catalog, refreshes it from its sources, swaps it whole.

A catalog is never edited. The keeper reads all sources, assembles a new one and puts it in the
place of the old one; a call that runs keeps the one it started with. Somebody may ask for a
catalog before the sources have got ready (upstreams start, a scan goes on), and then the answer
depends on whether missing something matters:

    UNREAD    No source has been read.
                -> EARLY    `current`: somebody cannot wait
                -> SETTLED  `catalog`: somebody lists, and waits until the sources have settled
    EARLY     There is a catalog, in which something may be missing that will be there shortly.
                -> SETTLED  `catalog`: the sources have settled, and are read once more
    SETTLED   The catalog has what a first list should not miss, and `at_hand` gives it without
              waiting. What comes later comes with a refresh.

A refresh happens when a source says that it may have changed, when a script reports a change,
or when a call waits for something to arrive. Refreshes run one at a time. `_stale` is set by
whoever wants one, and cleared when one starts to read: so a request that comes while a refresh
reads leads to another, and of many requests that wait, the first to get the lock reads for all.
Reading and comparing happen in a thread, except for the very first catalog. After the swap,
still in this order: new warnings are logged and announced, then the kinds that have changed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from enum import Enum, auto
from functools import partial

from toolyard.catalog.announcer import Announcer
from toolyard.catalog.snapshot import Catalog, assemble
from toolyard.catalog.source import Source
from toolyard.catalog.tending import Troubles
from toolyard.protocol.kinds import RESOURCE_UPDATED, Kind
from toolyard.protocol.values import JsonObject
from toolyard.telemetry import logger

log = logger("catalog")
# A project of thousands of files can have thousands of mistakes.
MOST_WARNINGS = 50


class KeeperState(Enum):
    """See the head of this module."""

    UNREAD = auto()
    EARLY = auto()
    SETTLED = auto()


class Keeper:
    """The current catalog, and everything that keeps it current."""

    def __init__(
        self,
        sources: Sequence[Source],
        announcer: Announcer | None = None,
        prepare: Callable[[Catalog], None] = lambda _catalog: None,
    ) -> None:
        """`prepare` makes what belongs to a new catalog, in a thread, before it is swapped in."""
        self._sources = tuple(sources)
        self._prepare = prepare
        self._current: Catalog | None = None
        # The same, once nothing is missing from a first list; None before.
        self.at_hand: Catalog | None = None
        self._state = KeeperState.UNREAD
        self._settle_lock = asyncio.Lock()
        self._refresh_lock = asyncio.Lock()
        self._stale = False
        self._report_tasks: set[asyncio.Task[object]] = set()
        self.announcer = announcer or Announcer()
        self.announcer.hear_reports(self._on_report)
        self.troubles = Troubles()

    @property
    def _is_settled(self) -> bool:
        return self._state is KeeperState.SETTLED

    @property
    def current(self) -> Catalog:
        """The catalog of this moment; built when it is first asked for."""
        if self._current is not None:
            return self._current
        catalog = self._build()
        self._take(catalog)
        if self._state is KeeperState.UNREAD:
            self._state = KeeperState.EARLY
        self._warn(catalog, ())
        return catalog

    def _take(self, catalog: Catalog) -> None:
        self._current = catalog
        if self._is_settled:
            self.at_hand = catalog

    @property
    def warnings(self) -> tuple[str, ...]:
        """The warnings so far; none before there is a catalog."""
        return self._current.warnings[:MOST_WARNINGS] if self._current is not None else ()

    async def catalog(self) -> Catalog:
        """The same, after waiting briefly for what a first list should not miss."""
        if not self._is_settled:
            async with self._settle_lock:
                if not self._is_settled:
                    await self._settle()
        return self.current

    async def _settle(self) -> None:
        await asyncio.gather(*(source.settle() for source in self._sources))
        if self._state is KeeperState.EARLY:
            await self.refresh()
        self._state = KeeperState.SETTLED  # not before: whoever asks meanwhile waits too
        self.at_hand = self._current

    def _build(self) -> Catalog:
        return assemble([source.read() for source in self._sources])

    async def refresh(self) -> frozenset[Kind]:
        """Build a new catalog in a thread, swap it in, and announce what changed."""
        self._stale = True
        async with self._refresh_lock:
            if not self._stale:
                return frozenset()  # another refresh has read what this one was asked for
            self._stale = False
            try:
                older = self.current
                newer = await asyncio.to_thread(self._build_and_compare, older)
            except BaseException:
                self._stale = True  # what this one was asked for is still to be read
                raise
            self._take(newer)
        kinds = newer.changed_since(older)
        self._warn(newer, older.warnings)
        if kinds:
            log.info("catalog changed: %s", ", ".join(sorted(kinds)))
            self.announcer.changed(kinds)
        return kinds

    def _build_and_compare(self, older: Catalog) -> Catalog:
        newer = self._build()
        newer.changed_since(older)  # hashes both here, in the thread
        self._prepare(newer)
        return newer

    def _warn(self, catalog: Catalog, older_warnings: Sequence[str]) -> None:
        older = frozenset(older_warnings)
        new = [warning for warning in catalog.warnings if warning not in older]
        for warning in new[:MOST_WARNINGS]:
            log.warning("%s", warning)
            self.announcer.warned(warning)
        if len(new) > MOST_WARNINGS:
            log.warning("and %d more like these", len(new) - MOST_WARNINGS)

    async def watch(self) -> None:
        """Refresh whenever a source says that it may have changed, until cancelled."""
        refresh_due = asyncio.Event()
        async with asyncio.TaskGroup() as tasks:
            for number, source in enumerate(self._sources, 1):
                name = f"watching source {number}"
                tasks.create_task(self.troubles.tend(name, partial(source.watch, refresh_due.set)))
            await self.troubles.tend(
                "keeping the catalog up to date", partial(self._refresh_when, refresh_due)
            )

    async def _refresh_when(self, due: asyncio.Event) -> None:
        while True:
            await due.wait()
            due.clear()
            try:
                await self.refresh()
            except Exception:
                due.set()
                raise

    def _on_report(self, method: str, params: JsonObject) -> None:
        """A script reports that something on offer has changed: look at once."""
        if method == RESOURCE_UPDATED:
            self.announcer.updated(str(params.get("uri", "")))
            return
        task: asyncio.Task[object] = asyncio.get_running_loop().create_task(self.refresh())
        self._report_tasks.add(task)
        task.add_done_callback(self._report_tasks.discard)
